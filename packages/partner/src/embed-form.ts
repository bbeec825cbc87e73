// The form that signs a user in when a page posts it into a frame.
import { ownCopy, requireObject } from './own-copy.js';
import { invalidOption } from './partner-error.js';
import type { Person } from './person.js';

/** Whom to sign in, and what the frame shows then. */
export interface EmbedRequest {
  /** Their claims, or their `sub` alone. */
  readonly subject: Person | string;
  /** A path on the instance, `/` if left out. */
  readonly redirectTo?: string;
  /** Which key signs, if not the first one. */
  readonly kid?: string;
}

/** Attributes of the form element. */
export interface HtmlOptions {
  /** Name of the frame that the form is posted into. */
  readonly target?: string;
  readonly id?: string;
}

export interface EmbedForm {
  readonly method: 'post';
  readonly action: string;
  /** `token` is for one login, within 55 seconds; `login` of /embed.js takes it as well. */
  readonly fields: { readonly token: string; readonly redirectTo: string };
  /** The form as HTML, everything in it escaped. The page has to submit it: it has no script and no button. */
  toHtml(options?: HtmlOptions): string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A path: not what browsers take for another server, nor with characters that they drop. The instance looks closer. */
const LOCAL_PATH = /^\/(?![/\\])\P{Cc}*$/u;

/**
 * What the caller wants now, whatever becomes of the object.
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
