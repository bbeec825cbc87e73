// The form in which the policy of a trusted entry is set, from the rows of its members: what the page shows and asks for.
import type { Row, Rows, TrustedKeysRules } from '../../token-exchange/instance.js';
import { POLICY_GROUPS } from '../../token-exchange/instance.js';

/** A field for one member. Texts have code between backquotes. */
interface FormField {
  readonly name: string;
  readonly kind: Row<unknown>['kind'];
  readonly label: string;
  readonly hint: string;
  /** Those to choose from; undefined: any text. */
  readonly values?: readonly string[];
  /** The least and the most of a number. */
  readonly range?: readonly [number, number];
  /** Whatever the others are; `leftOut` says where one is required unless another is as it says. */
  readonly isRequired: boolean;
  /** Most entries need it. */
  readonly isExpected: boolean;
  /** What holds where it is left out: a value, or words. */
  readonly leftOut: unknown;
  readonly members?: readonly FormField[];
}

/** The groups of fields with their titles. A structure without members is shown, and changed, as JSON and by commands. */
export function entryForm(rules: TrustedKeysRules) {
  return Object.entries<Rows>(POLICY_GROUPS).map(([title, rows]) => ({
    title,
    fields: fieldsOf(rows, rules),
  }));
}

function fieldsOf(rows: Rows, rules: TrustedKeysRules): FormField[] {
  return Object.entries(rows)
    .filter(([, { kind, members }]) => kind !== 'structure' || members !== undefined)
    .map(([name, row]) => fieldOf(name, row, rules));
}

function fieldOf(name: string, row: Row<unknown>, rules: TrustedKeysRules): FormField {
  const { kind, label, rule, values, range, members } = row;
  return {
    ...{ name, kind, label, range },
    hint: rule.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'),
    values: typeof values === 'function' ? values(rules) : values,
    isRequired: isRequired(row, rules) && row.unless === undefined,
    isExpected: isRequired(row, rules),
    leftOut: leftOut(row, rules),
    members: members && fieldsOf(members, rules),
  };
}

function isRequired({ required }: Row<unknown>, { defaults }: TrustedKeysRules): boolean {
  return required === 'strictly' && defaults === 'strict';
}

/** A stored entry has defaults of its own, but under the strict policy. */
function leftOut(row: Row<unknown>, rules: TrustedKeysRules): unknown {
  if (isRequired(row, rules) && row.unless !== undefined) return `an error, unless ${row.unless}`;
  const { defaults } = rules;
  const own = defaults === 'strict' ? row.strict : row.stored;
  const value = own ?? row.open ?? row.unsaid;
  return value instanceof Set ? [...value] : value;
}
