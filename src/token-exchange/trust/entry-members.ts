// The given properties of one trusted key entry, and all findings about them, so that one start shows every problem.
import { didYouMean } from '../../platform/text/wording.js';
import { isJsonObject } from '../../platform/json/strict-json.js';

/** Findings about entries. Problems prevent the start. No finding contains a value (D32). */
export interface Findings {
  readonly problems: string[];
  readonly warnings: string[];
}

/** Enough of an unknown property's name to find it. A key pasted into the wrong place is not repeated whole. */
const MAX_NAME_CHARACTERS = 32;

export class EntryMembers {
  private readonly members: Readonly<Record<string, unknown>>;
  private failed = false;

  /**
   * @param index index of the entry in its list, from 0; undefined for a single entry
   * @param whole the object that contains these properties, and their name in it
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

  has(member: string): boolean {
    return this.members[member] !== undefined;
  }

  /** The properties of an object within the entry, whose problems become the entry's. */
  within(name: string): EntryMembers {
    return new EntryMembers(this.index, this.members[name], this.findings, { members: this, name });
  }

  /**
   * @param known members of entries of this type
   * @param elsewhere properties of the other types of entries
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

/** Names of known properties are public, so a suggestion reveals nothing about the entry. */
function unknownMember(member: string, known: ReadonlySet<string>): string {
  return `is not a known member${didYouMean(member, known)}`;
}
