// The tables of docs/reference/trusted-key-entries.md, from the rows of the properties of trusted key entries.
import type { Row, Rows } from '../../src/token-exchange/instance.js';
import { KEY_MEMBERS, POLICY } from '../../src/token-exchange/instance.js';
import { table } from './blocks.js';

export const ENTRY_BLOCKS = {
  members: () =>
    table(
      ['Property', 'Type', 'Rule'],
      Object.entries<Rows>(KEY_MEMBERS).flatMap(([type, rows]) =>
        Object.entries(rows).map(([name, { rule, required }]) => [
          code(name),
          type === 'both' ? 'both' : code(type),
          required === 'always' ? rule : `optional: ${rule}`,
        ]),
      ),
    ),
  policy: () =>
    table(
      ['Property', 'Rule', 'Default', 'Prevents'],
      Object.entries<Row<unknown>>(POLICY).map(([name, row]) => [
        code(name),
        row.rule,
        defaults(row),
        row.prevents ?? '',
      ]),
    ),
};

/** The default, and that of the strict policy if it is another one. */
function defaults(row: Row<unknown>): string {
  const [open, strict] = [openDefault(row), strictDefault(row)];
  return open === strict ? open : `${open}; strict: ${strict}`;
}

function openDefault({ open, unsaid = '' }: Row<unknown>): string {
  return open === undefined ? unsaid : valueOf(open);
}

function strictDefault(row: Row<unknown>): string {
  const { strict, required, unless } = row;
  if (required === 'strictly') return `an error${unless === undefined ? '' : `, unless ${unless}`}`;
  return strict === undefined ? openDefault(row) : valueOf(strict);
}

function valueOf(value: unknown): string {
  if (!(value instanceof Set)) return code(String(value));
  return value.size === 0 ? code('[]') : [...value].map((one) => code(String(one))).join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}
