// The lists in docs/reference/trusted-key-entries.md, generated from the properties of trusted key entries.
import type { Row, Rows } from '../../src/token-exchange/instance.js';
import { KEY_MEMBERS, POLICY } from '../../src/token-exchange/instance.js';
import { list, sentence } from './blocks.js';

export const ENTRY_BLOCKS = {
  members: () =>
    list(
      Object.entries<Rows>(KEY_MEMBERS).flatMap(([type, rows]) =>
        Object.entries(rows).map(([name, { rule, required }]): [string, string] => {
          const about = [type === 'both' ? '' : code(type), required === 'always' ? '' : 'optional'];
          return [withBrackets(name, about), sentence(rule)];
        }),
      ),
    ),
  policy: () =>
    list(
      Object.entries<Row<unknown>>(POLICY).map(([name, row]) => {
        const prevents = row.prevents === undefined ? '' : ` Risk: ${row.prevents}.`;
        return [withBrackets(name, [defaults(row)]), `${sentence(row.rule)}${prevents}`];
      }),
    ),
};

function withBrackets(name: string, about: readonly string[]): string {
  const brackets = about.filter((each) => each !== '').join(', ');
  return brackets === '' ? code(name) : `${code(name)} (${brackets})`;
}

/** The default, and the strict policy's if it differs. */
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
