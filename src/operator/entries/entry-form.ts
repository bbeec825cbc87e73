// The page's form for the policy of a trusted entry, derived from the rows of its fields.
import type { Row, Rows, TrustedKeysRules } from '../../token-exchange/instance.js';
import { POLICY, POLICY_GROUPS } from '../../token-exchange/instance.js';

/** The form field of one entry field. Code in its texts is in backquotes. */
interface FormField {
  readonly name: string;
  readonly kind: Row<unknown>['kind'];
  readonly label: string;
  readonly hint: string;
  /** The choices; undefined: any string. */
  readonly values?: readonly string[];
  /** Minimum and maximum of a number. */
  readonly range?: readonly [number, number];
  /**
   * Whether the field is always required. `leftOut` describes fields that are required unless another has a
   * certain value.
   */
  readonly isRequired: boolean;
  /** Whether most entries need it. */
  readonly isExpected: boolean;
  /** The effect of leaving it out: a value, or a description. */
  readonly leftOut: unknown;
  readonly members?: readonly FormField[];
}

/**
 * The groups of fields with their titles. Structures without fields of their own are shown as JSON, and
 * changed with commands.
 */
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

/** The default of a stored entry; it differs under the strict policy. */
function leftOut(row: Row<unknown>, rules: TrustedKeysRules): unknown {
  if (isRequired(row, rules) && row.unless !== undefined) return `an error, unless ${row.unless}`;
  const { defaults } = rules;
  const own = defaults === 'strict' ? row.strict : row.stored;
  const value = own ?? row.open ?? row.unsaid;
  return value instanceof Set ? [...value] : value;
}

const LABELS = new Map(Object.entries<Row<unknown>>(POLICY).map(([name, { label }]) => [name, label]));

/** `entry 0, maxUsers: …` becomes `entry 0, Users at most (maxUsers): …`. */
export function withLabels(findings: readonly string[]): string[] {
  return findings.map((finding) =>
    finding.replace(/(?<=^|, |: )([a-z]\w*)((?:\.\w+)*): /, (found, name: string, rest: string) => {
      const label = LABELS.get(name)?.replaceAll('`', '');
      return label === undefined ? found : `${label} (${name}${rest}): `;
    }),
  );
}

interface Explained {
  readonly cause: string | null;
  readonly remedy: string | null;
}

/** `maxUsers` becomes “Users at most” (`maxUsers`). Names of one word stay, because they are words or claims too. */
export function inLabels<E extends Explained>(explained: E): E {
  const worded = (text: string | null) =>
    text?.replace(/`([a-z]+[A-Z]\w*)(?:: \w+)?`/g, (code, name: string) => {
      const label = LABELS.get(name);
      return label === undefined ? code : `“${label.replaceAll('`', '')}” (${code})`;
    }) ?? null;
  return { ...explained, cause: worded(explained.cause), remedy: worded(explained.remedy) };
}
