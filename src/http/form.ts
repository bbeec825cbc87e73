// Reads application/x-www-form-urlencoded, strictly: what is ambiguous or broken is an error, never a guess.

/** A form that cannot be read. The message names the field and the rule, never a value. */
export class FormError extends Error {
  constructor(
    message: string,
    readonly field?: string,
  ) {
    super(message);
    this.name = 'FormError';
  }
}

/** Names longer than this are not repeated in messages. */
const MAX_NAMED_CHARACTERS = 64;

/** The fields of a form or query string; each name stands once (RFC 6749 §3.2). */
export class Form {
  private constructor(private readonly fields: ReadonlyMap<string, string>) {}

  /**
   * Parses the body of a form (bytes) or the query of a URL (text).
   * @throws FormError for a broken percent escape, text that is not UTF-8, NUL, a repeated name
   */
  static parse(encoded: Uint8Array | string): Form {
    const fields = new Map<string, string>();
    const text = typeof encoded === 'string' ? encoded : decodedBytes(encoded);
    for (const pair of text.split('&').filter((part) => part !== '')) {
      const [name, value] = decodedPair(pair);
      if (fields.has(name)) throw new FormError(`${shown(name)} must not be given more than once`, name);
      fields.set(name, value);
    }
    return new Form(fields);
  }

  get(name: string): string | undefined {
    return this.fields.get(name);
  }

  has(name: string): boolean {
    return this.fields.has(name);
  }

  get names(): readonly string[] {
    return [...this.fields.keys()];
  }
}

function decodedBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FormError('the form is not UTF-8');
  }
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
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new FormError(`${what} is not valid form encoding`);
  }
}

function shown(name: string): string {
  return /^[\w.[\]-]+$/.test(name) && name.length <= MAX_NAMED_CHARACTERS ? name : 'a field';
}
