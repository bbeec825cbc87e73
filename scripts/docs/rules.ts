// The tables of docs/internals/rules.md, from the `@rule` tags of the code.
import { readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { table } from './blocks.js';

/** One rule, by the tag above the code that keeps it. */
export interface TaggedRule {
  /** Its name first, then others that the contract states it by. */
  readonly ids: readonly [string, ...string[]];
  /** The first sentence behind the ids. */
  readonly text: string;
  /** The file, from the top of the repository. */
  readonly path: string;
}

const CODE_FOLDERS = ['src', 'packages/partner/src'];
/** What an id looks like; docs/internals/rules.md explains it. */
const ID = /(?:[1-9](?:\.\w+)+|D\d+|[BP]\.\w+)/;
const TAG = new RegExp(
  `@rule\\s+(${ID.source}(?: = ${ID.source})*)(?![\\w.])([^@]*?)(?=\\*/|@|\\n\\s*(?!\\*|//)\\S|$)`,
  'g',
);

export const RULE_TABLES = {
  contract: () => rulesTable(/^\d/),
  decisions: () => rulesTable(/^D/),
  bounds: () => rulesTable(/^B/),
  policy: () => rulesTable(/^P/),
};

/** Every rule of the code. `npm run docs` and the tests run at the top of the repository. */
export function rulesOfCode(): TaggedRule[] {
  return CODE_FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.split(sep).join('/')}`)
      .flatMap((path) => taggedRules({ path, text: readFileSync(join(process.cwd(), path), 'utf8') })),
  );
}

export function taggedRules({ path, text }: { path: string; text: string }): TaggedRule[] {
  return [...text.matchAll(TAG)].map(([, ids = '', behind = '']) => {
    const [name = '', ...others] = ids.split(' = ');
    return { ids: [name, ...others], text: firstSentence(behind), path };
  });
}

function firstSentence(comment: string): string {
  const line = comment
    .replace(/\n\s*(\*|\/\/)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return /^.*?\.(?= [A-Z]|$)/.exec(line)?.[0] ?? line;
}

function rulesTable(names: RegExp): string {
  const rows = rulesOfCode()
    .filter(({ ids: [name] }) => names.test(name))
    .sort(({ ids: [one] }, { ids: [other] }) => one.localeCompare(other, 'en', { numeric: true }))
    .map(({ ids, text, path }) => [
      ids.map((id) => `\`${id}\``).join(' = '),
      text,
      `[${path.replace(/^src\//, '')}](../../${path})`,
    ]);
  return table(['Id', 'Rule', 'Where'], rows);
}
