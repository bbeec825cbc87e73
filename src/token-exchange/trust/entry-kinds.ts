// The properties of a trusted key entry: how each of the six kinds is read, what a row declares, and the findings about the
// given values, so that one start shows every problem.
import { isJsonObject, isUnstorable } from '../../platform/json/strict-json.js';
import { didYouMean } from '../../platform/text/wording.js';
import type { TrustedKeysRules } from './entry-rules.js';

/** Why a value is refused, as a clause: `must be a URL`. Never contains the value (D32). */
export class Fault {
  constructor(readonly rule: string) {}
}

/** What every row declares about its property. */
interface RowFacts<Value> {
  /** The name in forms. */
  readonly label: string;
  /** What it does, for the document: Markdown, a clause that sentences may follow. */
  readonly rule: string;
  /** What goes wrong without it. */
  readonly prevents?: string;
  /** The effect of its absence, if no default says it. */
  readonly unsaid?: string;
  /** `always`: every entry needs it. `strictly`: entries under the strict policy need it, `unless` its condition applies. */
  readonly required?: 'always' | 'strictly';
  readonly unless?: string;
  /** The default of the contract. Code that reads a policy knows it too. */
  readonly open?: Value;
  /** The default of stored entries, if it differs. */
  readonly stored?: Value;
  /** The default under the strict policy; undefined: the contract's. */
  readonly strict?: Value;
  /** What is wrong with a value of the right type. */
  fault?(value: Value, rules: TrustedKeysRules): string | undefined;
  /** The phrase about an entry, if this property alone decides it. @param value undefined: left out */
  words?(value: Value | undefined, now: Date): string | undefined;
}

export interface Row<Value> extends RowFacts<Value> {
  readonly kind: 'text' | 'number' | 'flag' | 'choice' | 'list' | 'structure';
  /** The values that a form offers. */
  readonly values?: readonly string[] | ((rules: TrustedKeysRules) => readonly string[]);
  readonly range?: readonly [number, number];
  /** The properties of a structure that a form can show. */
  readonly members?: Rows;
  /** @param at where a structure reports its problems */
  read(given: unknown, rules: TrustedKeysRules, at: MemberPlace): Value | Fault;
}

export type Rows = Readonly<Record<string, Row<unknown>>>;

/** The read properties of an entry or a part of it. */
export type ValuesOf<Declared extends Rows> = {
  readonly [Member in keyof Declared]?: Declared[Member] extends Row<infer Value> ? Value : never;
};

interface MemberPlace {
  readonly members: EntryMembers;
  readonly name: string;
}

/** @param read turns the string into a value; the string itself by default */
export function text(row: RowFacts<string>): Row<string>;
export function text<Value>(row: RowFacts<Value>, read: TextReader<Value>): Row<Value>;
export function text(row: RowFacts<unknown>, read: TextReader<unknown> = (given) => given): Row<unknown> {
  return {
    ...row,
    kind: 'text',
    read: (given, rules) => (isText(given) ? read(given, rules) : new Fault('must be a non-empty string')),
  };
}

type TextReader<Value> = (given: string, rules: TrustedKeysRules) => Value | Fault;

/** A whole number within inclusive limits. */
export function number(min: number, max: number, row: RowFacts<number>): Row<number> {
  const isGood = (given: unknown): given is number =>
    Number.isInteger(given) && Number(given) >= min && Number(given) <= max;
  return {
    ...row,
    kind: 'number',
    range: [min, max],
    read: (given) => (isGood(given) ? given : new Fault(`must be a whole number from ${min} to ${max}`)),
  };
}

export function flag(row: RowFacts<boolean>): Row<boolean> {
  return {
    ...row,
    kind: 'flag',
    read: (given) => (typeof given === 'boolean' ? given : new Fault('must be true or false')),
  };
}

export function choice<Choice extends string>(values: readonly Choice[], row: RowFacts<Choice>): Row<Choice> {
  const fault = new Fault(`must be ${values.map((value) => `"${value}"`).join(' or ')}`);
  return {
    ...row,
    kind: 'choice',
    values,
    read: (given) => values.find((value) => value === given) ?? fault,
  };
}

interface ListRules<Value> {
  /** The value of a string; undefined if it is invalid. */
  readonly each: (text: string, rules: TrustedKeysRules) => Value | Fault | undefined;
  readonly must: string | ((rules: TrustedKeysRules) => string);
  /** The minimum length. */
  readonly least?: number;
  readonly values?: Row<unknown>['values'];
}

export function list<Value>(
  { each, must, least = 0, values }: ListRules<Value>,
  row: RowFacts<ReadonlySet<Value>>,
): Row<ReadonlySet<Value>> {
  const read = (given: unknown, rules: TrustedKeysRules) => {
    const fault = () => new Fault(typeof must === 'string' ? must : must(rules));
    if (!isTextArray(given) || given.length < least) return fault();
    const taken = new Set<Value>();
    // Stops at the first error: a body may have a hundred thousand more.
    for (const one of given) {
      const value = each(one, rules);
      if (value === undefined) return fault();
      if (value instanceof Fault) return value;
      taken.add(value);
    }
    return taken;
  };
  return { ...row, kind: 'list', values, read };
}

/** The rules of a list of known values. The message about a misspelt one names the nearest. */
export function known<Value extends string>(values: readonly Value[]): ListRules<Value> {
  const must = `must be a list of some of ${values.join(', ')}`;
  return {
    values,
    must,
    each: (text) => values.find((value) => value === text) ?? new Fault(`${must}${didYouMean(text, values)}`),
  };
}

/**
 * An object with its own properties, whose problems become the entry's.
 * @param made creates the value from the read properties
 */
export function structure<Declared extends Rows, Value>(
  members: Declared,
  row: RowFacts<Value>,
  made: (values: ValuesOf<Declared>) => Value,
): Row<Value> {
  return {
    ...row,
    kind: 'structure',
    members,
    read(_given, rules, at) {
      const inner = at.members.within(at.name);
      const values = readRows(members, inner, rules);
      inner.refuseUnknown(new Set(Object.keys(members)), new Set());
      requireStrictly(members, inner, rules);
      return made(values);
    },
  };
}

/** Reads the declared properties. A property with a problem is treated as absent. */
export function readRows<Declared extends Rows>(
  rows: Declared,
  members: EntryMembers,
  rules: TrustedKeysRules,
): ValuesOf<Declared> {
  const values = Object.entries(rows).map(([name, row]) => [name, readMember(name, row, members, rules)]);
  return Object.fromEntries(values) as ValuesOf<Declared>;
}

function readMember(
  name: string,
  row: Row<unknown>,
  members: EntryMembers,
  rules: TrustedKeysRules,
): unknown {
  const given = members.value(name);
  if (given === undefined && row.required !== 'always') return undefined;
  const value = row.read(given, rules, { members, name });
  const fault = value instanceof Fault ? value.rule : row.fault?.(value, rules);
  if (fault === undefined) return value;
  members.problem(name, fault);
  return undefined;
}

/** @param isExcused whether a property may be absent nevertheless */
export function requireStrictly(
  rows: Rows,
  members: EntryMembers,
  { defaults }: TrustedKeysRules,
  isExcused: (name: string) => boolean = () => false,
): void {
  if (defaults !== 'strict') return;
  for (const [name, { required, unless }] of Object.entries(rows)) {
    if (required !== 'strictly' || members.has(name) || isExcused(name)) continue;
    members.problem(
      name,
      `is required by the strict policy${unless === undefined ? '' : `, unless ${unless}`}`,
    );
  }
}

/** Whether a value is a storable string, and not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !isUnstorable(value);
}

function isTextArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}

export function listed(values: Iterable<string>, separator = ', '): string {
  return [...values].join(separator);
}

export function named(roles: ReadonlySet<string>): string {
  return roles.size === 0 ? 'no role' : listed(roles);
}

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
