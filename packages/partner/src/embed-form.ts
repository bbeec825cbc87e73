// The form that a page posts into a frame to sign a user in.
import { ownCopy, requireObject } from './own-copy.js';
import { invalidOption } from './partner-error.js';
import type { Person } from './person.js';

/** The user to sign in, and the path that the frame then shows. */
export interface EmbedRequest {
  /** The user's claims, or only the `sub`. */
  readonly subject: Person | string;
  /** A path on the instance. Default: `/`. */
  readonly redirectTo?: string;
  /** The `kid` of the key that signs. Default: the first key. */
  readonly kid?: string;
}

/** Attributes of the form element. */
export interface HtmlOptions {
  /** The name of the frame that receives the form. */
  readonly target?: string;
  readonly id?: string;
}

export interface EmbedForm {
  readonly method: 'post';
  readonly action: string;
  /** `token` is valid for one login within 55 seconds. `login` of /embed.js accepts it too. */
  readonly fields: { readonly token: string; readonly redirectTo: string };
  /** The form as escaped HTML, without script and button. The page submits it. */
  toHtml(options?: HtmlOptions): string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Matches a path that browsers cannot resolve to another server. It has no characters that they remove. The instance checks more. */
const LOCAL_PATH = /^\/(?![/\\])\P{Cc}*$/u;

/**
 * Copies the request, so that later changes of the caller's object have no effect.
 * @throws PartnerError `invalid_option`
 */
export function copyOfEmbed(request: EmbedRequest): EmbedRequest & { readonly redirectTo: string } {
  requireObject(request, 'the request', { subject: true, redirectTo: true, kid: true });
  const { subject, redirectTo = '/', kid } = request;
  if (typeof redirectTo !== 'string' || !LOCAL_PATH.test(redirectTo))
    throw invalidOption('redirectTo must be a path on the instance');
  return { ...ownCopy({ subject, kid }, 'the request'), redirectTo };
}

export function embedForm(action: string, fields: EmbedForm['fields']): EmbedForm {
  return {
    method: 'post',
    action,
    fields,
    toHtml: (options = {}) => {
      requireObject(options, 'the options', { target: true, id: true });
      const { target, id } = options;
      const attributes = Object.entries({ id, method: 'post', action, target });
      const inputs = Object.entries(fields).map(
        ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
      );
      return `<form${attributes.map(attribute).join('')}>${inputs.join('')}</form>`;
    },
  };
}

function attribute([name, value]: [string, string | undefined]): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw invalidOption(`${name} must be a text`);
  return ` ${name}="${escaped(value)}"`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
