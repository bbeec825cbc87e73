// Reads the fields of a form or query from the server's parser. An ambiguous field is an error.
import type { BodyLabel, LabelFault } from '../../platform/http/http-messages.js';
import { CODING_MESSAGE, faultOfLabel, MAX_FIELDS } from '../../platform/http/http-messages.js';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { printableName } from '../../platform/text/printable.js';
import type { OAuthRefusal } from '../refusals/oauth-refusal.js';
import { invalidField, requestRefusal } from '../refusals/oauth-refusal.js';
import type { RequestRefusalReason } from '../refusals/refusals.js';

const FORM = 'application/x-www-form-urlencoded';
const LABEL_FAULTS = {
  content_encoding: ['content_encoding_not_supported', CODING_MESSAGE],
  media_type: ['not_a_form', `Content-Type must be ${FORM}`],
  charset: ['not_a_form', 'The charset must be UTF-8'],
} as const satisfies Record<LabelFault, readonly [RequestRefusalReason, string]>;

/** Why a body is no form, by its headers; undefined if it is one. @param form its fields, if it was parsed */
export function refusalOfLabel(label: BodyLabel, form?: object): OAuthRefusal | undefined {
  const fault = faultOfLabel(label, FORM, form);
  if (fault === undefined) return undefined;
  const [kind, message] = LABEL_FAULTS[fault];
  const found = label[fault === 'content_encoding' ? 'content-encoding' : 'content-type'];
  return requestRefusal(kind, message, undefined, printableName(found));
}

/** The rules for a field. */
interface FieldRule {
  /** The maximum number of characters; for a list, of all its values together. */
  readonly max?: number;
  /** NUL is allowed, because the value is only compared with fixed strings. */
  readonly isWord?: boolean;
  /** It may be repeated. Its value is then all values, joined by spaces. */
  readonly isList?: boolean;
}

/** The fields that an endpoint knows; all others are ignored (RFC 6749 §3.2). */
export class Form<Name extends string> {
  private readonly sent: Readonly<Record<string, unknown>>;

  /**
   * Throws nothing yet, so that one field can be checked before the rest (`grant_type`, D20).
   * @param sent by name a string, or the parser's result for a repeated field or array notation
   */
  constructor(
    sent: unknown,
    private readonly known: Readonly<Record<Name, FieldRule>>,
  ) {
    this.sent = typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>) : {};
  }

  /**
   * The form, if every known field is readable.
   * @throws OAuthRefusal `field_invalid` as `get`, for over 100 fields, and for a known one in array notation: `actor_token[]=…` means
   *   an actor to its sender; ignoring it would hand out the subject's rights instead
   */
  wellFormed(): this {
    if (Object.values(this.sent).flat().length > MAX_FIELDS)
      throw invalidField(`the form has over ${MAX_FIELDS} fields`);
    for (const name of Object.keys(this.sent)) {
      const [field = ''] = name.split('[', 1);
      if (field !== name && Object.hasOwn(this.known, field)) throw inNotation(field);
    }
    for (const name of Object.keys(this.known)) this.get(name as Name);
    return this;
  }

  /**
   * The value of a field; undefined if it was not sent.
   * @throws OAuthRefusal `field_invalid` for a repeated field (RFC 6749 §3.2), an array or object, NUL, a value over its limit; it names
   *   the field
   */
  get(name: Name): string | undefined {
    const { max = Number.POSITIVE_INFINITY, isList = false, isWord = false } = this.known[name];
    const given = Object.hasOwn(this.sent, name) ? this.sent[name] : undefined;
    if (given === undefined) return undefined;
    if (Array.isArray(given) && !isList) throw invalidField(`${name} must not be given more than once`);
    const value = typeof given === 'string' ? given : joined(name, given);
    if (hasMoreCharacters(value, max)) throw invalidField(`${name} must have at most ${max} characters`);
    if (!isWord && value.includes('\0')) throw invalidField(`${name} must not contain NUL`);
    return value;
  }

  /** A token, without white space around it, as from a file; empty if there is none. */
  trimmed(name: Name): string {
    return (this.get(name) ?? '').trim();
  }
}

/** The values of a list without empty ones, joined by spaces. */
function joined(name: string, given: unknown): string {
  const values = [given].flat();
  if (!values.every((value) => typeof value === 'string')) throw inNotation(name);
  return values.filter((value) => value !== '').join(' ');
}

function inNotation(name: string) {
  return invalidField(`${name} must be a plain field, not one of an array or object`);
}

/** The field by which a login requests a bound session. */
export const ANSWER_FIELD = 'answer';
export const ANSWER_SESSION = 'session';
