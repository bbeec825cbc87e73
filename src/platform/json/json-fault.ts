// Says where a text stops being JSON, and why.

import type { JsonError } from './strict-json.js';

/** Deeper than what `parseStrictJson` takes: what is nested further is not looked into. */
const MAX_DEPTH = 64;
const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORD = /(true|false|null)(?![\w$])/y;
const ESCAPE = /\\(["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Common mistakes by their first character. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [/\ufeff/, 'a byte order mark: save the text as UTF-8 without one'],
  [/[\0\ufffd]/, 'a character that is no UTF-8: save the text as UTF-8'],
  [/['`]/, 'a single quotation mark: JSON has double ones only'],
  [/[\u2018-\u201f\u00ab\u00bb]/, 'a typographic quotation mark: JSON has straight ones only'],
  [/[/#]/, 'a comment: JSON has none'],
  [/\\/, 'a backslash outside a string'],
];

/** A place in a text, counted from 1, and what is wrong there. Nothing of the text is repeated: it may be secret. */
class Fault extends Error {
  constructor(
    readonly at: number,
    what: string,
  ) {
    super(what);
  }
}

/**
 * The first fault of a text that is no JSON or has a member twice, such as `line 2, column 7: a comma before the end of a list`.
 * Undefined where there is none.
 */
export function jsonFault(text: string): string | undefined {
  try {
    new Scanner(text).scan();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const before = text.slice(0, error.at).split(/\r\n|\r|\n/);
    return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}: ${error.message}`;
  }
}

/** An error of `parseStrictJson` about a hand-written text, with the place of the fault. */
export function explainJsonError({ message }: JsonError, text: string): string {
  const fault = jsonFault(text);
  if (fault === undefined) return message;
  return fault.endsWith(`: ${message}`) ? fault : `${message}: ${fault}`;
}

/** Goes through a text by the grammar of RFC 8259, as far as it keeps to it. */
class Scanner {
  private at = 0;

  constructor(private readonly text: string) {}

  scan(): void {
    this.value(1);
    if (this.next() !== undefined) this.fail(mistakeOf(this.next()) ?? 'something follows the end');
  }

  private value(depth: number): void {
    const first = this.next();
    if (first === undefined)
      this.fail(this.text.trim() === '' ? 'the text is empty' : 'the text ends too early');
    if (depth > MAX_DEPTH) this.fail('it is nested too deeply');
    if (first === '{') this.parts('}', 'an object', this.member(depth));
    else if (first === '[') this.parts(']', 'a list', () => this.value(depth + 1));
    else if (first === '"') this.string();
    else if (!this.take(NUMBER) && !this.take(WORD)) this.fail(mistakeOf(first) ?? valueFault(first));
  }

  /** The parts of an object or list, from its opening to its closing character. */
  private parts(closing: string, what: string, part: () => void): void {
    this.at += 1;
    if (this.takeIf(closing)) return;
    do {
      if (this.next() === closing) this.failBefore(`a comma before the end of ${what}`);
      part();
    } while (this.takeIf(','));
    if (this.takeIf(closing)) return;
    const found = this.next();
    if (found === undefined) this.fail(`the text ends too early: ${what} is not closed`);
    this.fail(mistakeOf(found) ?? `a comma or ${closing} is missing before this`);
  }

  private member(depth: number): () => void {
    const names = new Set<unknown>();
    return () => {
      const first = this.next();
      const start = this.at;
      if (first !== '"')
        this.fail(mistakeOf(first) ?? 'the name of a member, in double quotation marks, is missing');
      const name: unknown = JSON.parse(this.string());
      if (names.has(name)) this.fail('a member is given twice', start);
      names.add(name);
      if (!this.takeIf(':')) this.fail('a colon is missing before this');
      this.value(depth + 1);
    };
  }

  private string(): string {
    const start = this.at;
    this.at += 1;
    for (;;) {
      const character = this.text[this.at];
      if (character === undefined) this.fail('a string that begins here has no end', start);
      if (character < ' ') this.fail(controlFault(character));
      if (character === '\\' && !this.take(ESCAPE)) this.fail('a backslash that begins no escape of JSON');
      else if (character !== '\\') this.at += 1;
      if (character === '"') return this.text.slice(start, this.at);
    }
  }

  /** The next character that is no white space. */
  private next(): string | undefined {
    this.take(SPACE);
    return this.text[this.at];
  }

  private takeIf(character: string): boolean {
    if (this.next() !== character) return false;
    this.at += 1;
    return true;
  }

  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  private failBefore(what: string): never {
    this.fail(what, this.text.lastIndexOf(',', this.at));
  }

  private fail(what: string, at = this.at): never {
    throw new Fault(at, what);
  }
}

function mistakeOf(character: string | undefined): string | undefined {
  if (character === undefined) return 'the text ends too early';
  return MISTAKES.find(([pattern]) => pattern.test(character))?.[1];
}

function valueFault(first: string): string {
  if (/[,\]}]/.test(first)) return 'a value is missing before this';
  return /[\w$]/.test(first)
    ? 'a word that is no value of JSON: a text needs quotation marks'
    : 'no value of JSON begins so';
}

function controlFault(character: string): string {
  if (character === '\n' || character === '\r')
    return 'a line break inside a string: JSON writes it as \\n, as those of a PEM';
  if (character === '\t') return 'a tab inside a string: JSON writes it as \\t';
  return 'a control character inside a string';
}
