// Reads application/x-www-form-urlencoded, strictly: what is ambiguous or broken is an error, never a guess.
import { isUtf8 } from 'node:buffer';

/** A form that is not well-formed. The message names the field and the rule, never a value. */
export class FormError extends Error {
  constructor(
    message: string,
    readonly field?: string,
  ) {
    super(message);
    this.name = 'FormError';
  }
}

/** No honest request comes near it; nothing is read beyond, so that a body of separators costs nothing. */
const MAX_FIELDS = 100;
/** Names longer than this are not repeated in messages. */
const MAX_NAMED_CHARACTERS = 64;

/** The fields of a form or query string. What is wrong with it is kept until somebody asks for all of it. */
export class Form {
  private constructor(
    private readonly fields: ReadonlyMap<string, string>,
    private readonly error: FormError | undefined,
  ) {}

  /**
   * Reads the body of a form (bytes) or the query of a URL (text). Nothing is thrown yet, so that one field can be judged
   * before the rest (`grant_type`, D20): call `refuseBroken` before using any other.
   */
  static read(encoded: Uint8Array | string): Form {
    const fields = new Map<string, string>();
    let firstError: FormError | undefined;
    const text = typeof encoded === 'string' ? encoded : Buffer.from(encoded).toString('utf8');
    const pairs = text.split('&', MAX_FIELDS + 1);
    if (pairs.length > MAX_FIELDS) firstError = new FormError(`the form has over ${MAX_FIELDS} fields`);
    for (const pair of pairs.slice(0, MAX_FIELDS).filter((part) => part !== '')) {
      try {
        addField(fields, decodedPair(pair));
      } catch (error) {
        if (!(error instanceof FormError)) throw error;
        firstError ??= error;
      }
    }
    const isText = typeof encoded === 'string' || isUtf8(encoded);
    return new Form(fields, isText ? firstError : new FormError('the form is not UTF-8'));
  }

  /** @throws FormError for a broken percent escape, text that is not UTF-8, NUL, a repeated name (RFC 6749 §3.2) */
  refuseBroken(): void {
    if (this.error !== undefined) throw this.error;
  }

  get(name: string): string | undefined {
    return this.fields.get(name);
  }

  get names(): readonly string[] {
    return [...this.fields.keys()];
  }
}

function addField(fields: Map<string, string>, [name, value]: [string, string]): void {
  if (fields.has(name)) throw new FormError(`${shown(name)} must not be given more than once`, name);
  fields.set(name, value);
}

function decodedPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  const name = decoded(at < 0 ? pair : pair.slice(0, at), 'a field name');
  const value = decoded(at < 0 ? '' : pair.slice(at + 1), shown(name));
  if (value.includes('\0') || name.includes('\0'))
    throw new FormError(`${shown(name)} must not contain NUL`, name);
  return [name, value];
}

/** URLSearchParams would take a broken escape literally and turn bytes that are not UTF-8 into U+FFFD. */
function decoded(text: string, what: string): string {
  // Nothing to decode, as in every token: a megabyte of it need not be walked through twice.
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new FormError(`${what} is not valid form encoding`);
  }
}

function shown(name: string): string {
  return /^[\w.[\]-]+$/.test(name) && name.length <= MAX_NAMED_CHARACTERS ? name : 'a field';
}
