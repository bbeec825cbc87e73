// Refusals of a flow before any token is looked at.
import { CODING_MESSAGE } from '../../platform/http/answers.js';
import type { BodyLabel, LabelFault } from '../../platform/http/content-type.js';
import { faultOfLabel } from '../../platform/http/content-type.js';
import { printableName } from '../../platform/text/printable.js';
import type { FlowRefusalKind } from '../refusals/refusals.js';
import { REQUEST_REFUSALS } from '../refusals/refusals.js';

/** A request was refused for what it is, not for its token. The message names fields and limits, never values. */
export class FlowRefusal extends Error {
  constructor(
    readonly kind: FlowRefusalKind,
    message: string,
    readonly headers: Readonly<Record<string, string>> | undefined = REQUEST_REFUSALS[kind].headers,
    /** For the log: what came instead, as `printable` makes it. */
    readonly found?: string,
  ) {
    super(message);
    this.name = 'FlowRefusal';
  }
}

export function notEnabled(what: string): FlowRefusal {
  return new FlowRefusal('not_enabled', `${what} is not enabled on this instance`);
}

/** A field is missing or malformed, or the form as a whole. */
export function invalidField(message: string): FlowRefusal {
  return new FlowRefusal('field_invalid', message);
}

const FORM = 'application/x-www-form-urlencoded';
const LABEL_FAULTS = {
  content_encoding: ['content_encoding_not_supported', CODING_MESSAGE],
  media_type: ['not_a_form', `Content-Type must be ${FORM}`],
  charset: ['not_a_form', 'The charset must be UTF-8'],
} as const satisfies Record<LabelFault, readonly [FlowRefusalKind, string]>;

/** Why a body is not read as a form, by its headers; undefined for one that is. @param form its fields, where it was parsed */
export function refusalOfLabel(label: BodyLabel, form?: object): FlowRefusal | undefined {
  const fault = faultOfLabel(label, FORM, form);
  if (fault === undefined) return undefined;
  const [kind, message] = LABEL_FAULTS[fault];
  const found = label[fault === 'content_encoding' ? 'content-encoding' : 'content-type'];
  return new FlowRefusal(kind, message, undefined, printableName(found));
}
