// Reads application/x-www-form-urlencoded, strictly: what is ambiguous or broken is an error, never a guess.
import { isUtf8 } from 'node:buffer';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { FlowRefusal, invalidField } from './flow-refusal.js';

/** Most characters of the fields that have a limit. */
export type FieldLimits = Readonly<Record<string, number>>;

/** No honest request comes near it; nothing is read beyond, so that a body of separators costs nothing. */
const MAX_FIELDS = 100;
/** Names longer than this are not repeated in messages. */
const MAX_NAMED_CHARACTERS = 64;
/** A character has at most four bytes of UTF-8, and each is written as `%XX` at most. */
const LONGEST_CHARACTER_BYTES = 12;
const EQUALS_SIGN = 0x3d;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const SPACE = 0x20;

/**
 * The fields of a form or query string. Its error is kept until all of it is asked for.
 * @rule B.work Reading takes time in proportion to the input; so does all other work before a token is checked.
 */
export class Form {
  private readonly fields = new Map<string, string>();
  private error: FlowRefusal | undefined;

  private constructor(
    private readonly limits: FieldLimits,
    private readonly lists: ReadonlySet<string>,
  ) {}

  /**
   * Reads the body of a form (bytes) or the query of a URL (text), in time in proportion to its length. Nothing is thrown
   * yet, so that one field can be checked before the rest (`grant_type`, D20): call `wellFormed` before using any other.
   * @param limits most characters of a field; what cannot have fewer is not even decoded
   * @param lists fields that may be repeated; their value is then all that were given, with spaces between them
   */
  static read(
    encoded: Uint8Array | string,
    limits: FieldLimits = {},
    lists: ReadonlySet<string> = new Set(),
  ): Form {
    const form = new Form(limits, lists);
    const bytes = Buffer.from(encoded as Uint8Array);
    if (!isUtf8(bytes)) form.error = invalidField('the form is not UTF-8');
    form.addPairs(bytes);
    return form;
  }

  /**
   * The form itself.
   * @throws FlowRefusal `field_invalid` for a broken percent escape, text that is not UTF-8, NUL, a repeated name (RFC 6749 §3.2), a
   *   value over its limit; it names the field where that is known
   */
  wellFormed(): this {
    if (this.error !== undefined) throw this.error;
    return this;
  }

  get(name: string): string | undefined {
    return this.fields.get(name);
  }

  /** A token, without the white space that comes along where it was copied from a file; empty: there is none. */
  trimmed(name: string): string {
    return (this.get(name) ?? '').trim();
  }

  get names(): readonly string[] {
    return [...this.fields.keys()];
  }

  private addPairs(bytes: Buffer): void {
    let start = 0;
    for (let count = 0; start < bytes.length; count += 1) {
      if (count === MAX_FIELDS) return this.keep(invalidField(`the form has over ${MAX_FIELDS} fields`));
      const next = bytes.indexOf(AMPERSAND, start);
      const end = next < 0 ? bytes.length : next;
      if (end > start) this.addPair(bytes.subarray(start, end));
      start = end + 1;
    }
  }

  private addPair(pair: Buffer): void {
    try {
      const at = pair.indexOf(EQUALS_SIGN);
      const name = decoded(at < 0 ? pair : pair.subarray(0, at), 'a field name');
      const value = this.valueOf(name, at < 0 ? Buffer.alloc(0) : pair.subarray(at + 1));
      this.fields.set(name, this.withEarlier(name, value));
    } catch (error) {
      if (!(error instanceof FlowRefusal)) throw error;
      this.keep(error);
    }
  }

  /** The limit of a list is for all its values, as they are kept; an empty one adds nothing. */
  private withEarlier(name: string, value: string): string {
    const earlier = this.fields.get(name);
    if (earlier === undefined) return value;
    if (!this.lists.has(name)) throw invalidField(`${shown(name)} must not be given more than once`);
    if (earlier === '' || value === '') return earlier + value;
    const all = `${earlier} ${value}`;
    if (hasMoreCharacters(all, this.limitOf(name))) throw this.tooLong(name);
    return all;
  }

  private valueOf(name: string, encoded: Buffer): string {
    const limit = this.limitOf(name);
    if (encoded.length > limit * LONGEST_CHARACTER_BYTES) throw this.tooLong(name);
    const value = decoded(encoded, shown(name));
    if (hasMoreCharacters(value, limit)) throw this.tooLong(name);
    if (value.includes('\0') || name.includes('\0'))
      throw invalidField(`${shown(name)} must not contain NUL`);
    return value;
  }

  private limitOf(name: string): number {
    return (Object.hasOwn(this.limits, name) ? this.limits[name] : undefined) ?? Number.POSITIVE_INFINITY;
  }

  private tooLong(name: string): FlowRefusal {
    return invalidField(`${shown(name)} must have at most ${this.limitOf(name)} characters`);
  }

  /** The first error counts. */
  private keep(error: FlowRefusal): void {
    this.error ??= error;
  }
}

/** URLSearchParams would take a broken escape literally and turn bytes that are not UTF-8 into U+FFFD. */
function decoded(encoded: Buffer, what: string): string {
  try {
    if (isUtf8(encoded)) return unescaped(withSpaces(encoded).toString());
  } catch {
    // A broken escape, or escapes that are not UTF-8.
  }
  throw invalidField(`${what} is not valid form encoding`);
}

/** @throws URIError */
function unescaped(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text;
}

/** On bytes: `replaceAll` takes 20 ms for a body of plus signs. */
function withSpaces(encoded: Buffer): Buffer {
  return encoded.includes(PLUS)
    ? Buffer.from(encoded.map((byte) => (byte === PLUS ? SPACE : byte)))
    : encoded;
}

function shown(name: string): string {
  return name.length <= MAX_NAMED_CHARACTERS && /^[\w.[\]-]+$/.test(name) ? name : 'a field';
}
