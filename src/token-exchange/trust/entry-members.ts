// Reads the members of one trusted key entry by their types, and goes on after a problem so that one start shows them all.
import { didYouMean } from '../../platform/text/wording.js';
import { isJsonObject, isUnstorable } from '../../platform/json/strict-json.js';

/** Findings about entries. With problems the process must not start; values never appear in any text (D32). */
export interface Findings {
  readonly problems: string[];
  readonly warnings: string[];
  /** Effects of a good entry that its author may not expect. */
  readonly notes: string[];
}

/** Enough of an unknown member's name to find it; a key pasted into the wrong member is not repeated whole. */
const MAX_NAME_CHARACTERS = 32;

export class EntryMembers {
  private readonly members: Readonly<Record<string, unknown>>;
  private failed = false;

  /**
   * @param index of the entry in its list, from 0; undefined where it stands alone
   * @param whole of which these are a member, and its name there
   */
  constructor(
    readonly index: number | undefined,
    value: unknown,
    private readonly findings: Findings,
    private readonly whole?: { readonly members: EntryMembers; readonly name: string },
  ) {
    this.members = isJsonObject(value) ? value : {};
    if (!isJsonObject(value)) this.problem('', 'must be an object');
  }

  /** Whether a problem was found. */
  get hasProblem(): boolean {
    return this.failed;
  }

  value(member: string): unknown {
    return this.members[member];
  }

  /** Empty after a problem. */
  requiredText(member: string): string {
    const value = this.members[member];
    if (isText(value)) return value;
    this.problem(member, 'must be a non-empty string');
    return '';
  }

  optionalText(member: string): string | undefined {
    return this.has(member) ? this.requiredText(member) : undefined;
  }

  optionalBoolean(member: string): boolean | undefined {
    const value = this.members[member];
    if (value === undefined || typeof value === 'boolean') return value;
    this.problem(member, 'must be true or false');
    return undefined;
  }

  /** A whole number within limits, both of them included. */
  optionalInteger(member: string, min: number, max: number): number | undefined {
    const value = this.members[member];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    this.problem(member, `must be a whole number from ${min} to ${max}`);
    return undefined;
  }

  /** The members of an object, whose problems are those of the entry. */
  optionalObject(name: string): EntryMembers | undefined {
    if (!this.has(name)) return undefined;
    return new EntryMembers(this.index, this.members[name], this.findings, { members: this, name });
  }

  optionalChoice<Choice extends string>(member: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.members[member];
    if (value === undefined) return undefined;
    const choice = choices.find((known) => known === value);
    if (choice === undefined) this.problem(member, `must be ${quotedList(choices)}`);
    return choice;
  }

  /**
   * A list of texts, each read by itself.
   * @param read makes the value that a text stands for; undefined where the text is none of these
   * @param rule what is said where the list, or a text in it, is not as it must be
   * @param leastTexts how many there must be
   */
  optionalTexts<Value>(
    member: string,
    read: (text: string) => Value | undefined,
    rule: string,
    leastTexts = 0,
  ): ReadonlySet<Value> | undefined {
    const list = this.members[member];
    if (list === undefined) return undefined;
    const values = isTextArray(list) ? list.map(read).filter((value) => value !== undefined) : [];
    const isGood = isTextArray(list) && values.length === list.length && list.length >= leastTexts;
    if (isGood) return new Set(values);
    this.problem(member, rule);
    return undefined;
  }

  has(member: string): boolean {
    return this.members[member] !== undefined;
  }

  /**
   * @param known members of entries of this type
   * @param elsewhere members that entries of another type have
   */
  refuseUnknown(known: ReadonlySet<string>, elsewhere: ReadonlySet<string>): void {
    for (const member of Object.keys(this.members).filter((name) => !known.has(name))) {
      const name = JSON.stringify(member).slice(0, MAX_NAME_CHARACTERS);
      const fault = elsewhere.has(member) ? 'is a member of the other type' : unknownMember(member, known);
      this.problem(name, `${fault}; known are ${[...known].join(', ')}`);
    }
  }

  problem(member: string, rule: string): void {
    this.fail();
    this.findings.problems.push(`${this.labelOf(member)}: ${rule}`);
  }

  warning(member: string, text: string): void {
    this.findings.warnings.push(`${this.labelOf(member)}: ${text}`);
  }

  note(member: string, text: string): void {
    this.findings.notes.push(`${this.labelOf(member)}: ${text}`);
  }

  private fail(): void {
    this.failed = true;
    this.whole?.members.fail();
  }

  private labelOf(member: string): string {
    if (this.whole !== undefined)
      return this.whole.members.labelOf(member === '' ? this.whole.name : `${this.whole.name}.${member}`);
    if (this.index === undefined) return member === '' ? 'the entry' : member;
    return member === '' ? `entry ${this.index}` : `entry ${this.index}, ${member}`;
  }
}

/** Whether a text that the database can hold, and not the empty one. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !isUnstorable(value);
}

export function isTextArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}

/** The members of entries are public: to name one reveals nothing of the entry. */
function unknownMember(member: string, known: ReadonlySet<string>): string {
  return `is not a known member${didYouMean(member, known)}`;
}

function quotedList(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' or ');
}
