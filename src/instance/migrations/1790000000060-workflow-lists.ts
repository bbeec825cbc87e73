// What sorted lists of workflows and the search in their names need: each name's words in one spelling, and indexes in order.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The database itself keeps the words of a name, in a generated column, so that instances of the release before need know
 * nothing of it. How it folds letters depends on no locale: the table of letters is written into a function of its own.
 */
export class WorkflowLists1790000000060 implements MigrationInterface {
  readonly name = 'WorkflowLists1790000000060';

  async up(queryRunner: QueryRunner): Promise<void> {
    const [version] = (await queryRunner.query('SHOW server_version_num')) as {
      server_version_num: string;
    }[];
    await queryRunner.query(foldedWords(Number(version?.server_version_num)));
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UNDOING) await queryRunner.query(statement);
  }
}

/** Since this version PostgreSQL can normalise; before, letters of the tables below are equal in both forms all the same. */
const NORMALIZING_VERSION = 130_000;

/** Accents and other marks that stand over, under and in letters of Latin, Greek and Cyrillic. */
const MARK = /[\u0300-\u036f]/gu;
/** Where letters have cases and marks: Latin to Armenian, their extensions, and the wide forms of East Asian text. */
const LETTERS = [
  [0x80, 0x58f],
  [0x1e00, 0x1fff],
  [0xff10, 0xff5a],
] as const;
/** Letters that Unicode takes for simple ones. */
const SIMPLE: Readonly<Record<string, string>> = { ς: 'σ', ı: 'i', ø: 'o', đ: 'd', ł: 'l', ħ: 'h' };
/** Letters that become two, as full case folding and most people have it. */
const DOUBLE = { ß: 'ss', ẞ: 'ss', æ: 'ae', Æ: 'ae', œ: 'oe', Œ: 'oe' };

/** What parts words, by code points, since classes of characters depend on the locale: punctuation and white space. */
const SEPARATORS =
  '\\x01-\\x2f\\x3a-\\x60\\x7b-\\xa9\\xab-\\xb4\\xb6-\\xb9\\xbb-\\xbf\\xd7\\xf7\\u2000-\\u206f\\u20a0-\\u20cf' +
  '\\u3000-\\u303f\\u30fb\\ufe00-\\ufe0f\\ufe30-\\ufe6f\\uff00-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65';
/** What is a word by itself: signs, emoji, and letters of scripts that put no space between words. */
const LONERS =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2190-\\u2bff\\u2e80-\\u2fdf\\u3040-\\u30ff\\u3400-\\u4dbf' +
  '\\u4e00-\\u9fff\\uf900-\\ufaff\\U0001f000-\\U0003ffff';

/**
 * `folded_words(text)`: the words of a text, one space between them, in small letters without marks. Names and what is sought
 * in them go through the same function.
 */
function foldedWords(serverVersion: number): string {
  const text = serverVersion >= NORMALIZING_VERSION ? 'normalize($1, NFC)' : '$1';
  const lowered = `lower(${text} COLLATE "C")`;
  const { from, to } = letterTable();
  const folded = Object.entries(DOUBLE).reduce(
    (inner, [letter, letters]) => `replace(${inner}, '${letter}', '${letters}')`,
    `translate(${lowered}, '${from}', '${to}')`,
  );
  // Most names are ASCII, and a thousand times faster without the table.
  const letters = `CASE WHEN octet_length($1) = char_length($1) THEN ${lowered} ELSE ${folded} END`;
  const parted = `regexp_replace(${letters}, '[${SEPARATORS}]+', ' ', 'g')`;
  const spaced = `regexp_replace(regexp_replace(${parted}, '([${LONERS}])', ' \\1 ', 'g'), ' +', ' ', 'g')`;
  return `CREATE FUNCTION folded_words(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $body$
    SELECT btrim(${spaced}, ' ')
  $body$`;
}

/** For `translate`: each letter of `from` becomes that of `to` at its place; those behind its end, the marks, are left out. */
function letterTable(): { from: string; to: string } {
  const characters = LETTERS.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
  );
  const folded = characters
    .map((character) => [character, foldedLetter(character)] as const)
    .filter(([character, letter]) => letter !== character);
  const letters = folded.filter(([character, letter]) => [...letter].length === 1 && !(character in DOUBLE));
  const marks = folded.filter(([, letter]) => letter === '');
  return {
    from: [...letters, ...marks].map(([character]) => character).join(''),
    to: letters.map(([, letter]) => letter).join(''),
  };
}

function foldedLetter(character: string): string {
  const bare = (text: string) => text.normalize('NFKD').replace(MARK, '');
  const letter = bare(bare(character).toLowerCase());
  return SIMPLE[letter] ?? letter;
}

const STATEMENTS = [
  `ALTER TABLE workflow ADD COLUMN folded_name text COLLATE "C" NOT NULL
     GENERATED ALWAYS AS (folded_words(name::text)) STORED`,

  // In each order those of the instance and those of each project, with what says without the row whether one is sought.
  `CREATE INDEX workflow_updated ON workflow (updated_at, id) INCLUDE (active, folded_name)`,
  `CREATE INDEX workflow_folded ON workflow (folded_name, id) INCLUDE (active)`,
  `CREATE INDEX workflow_project_updated ON workflow (project_id, updated_at, id) INCLUDE (active, folded_name)`,
  `CREATE INDEX workflow_project_folded ON workflow (project_id, folded_name, id) INCLUDE (active)`,
];

const UNDOING = [
  `DROP INDEX workflow_project_folded`,
  `DROP INDEX workflow_project_updated`,
  `DROP INDEX workflow_folded`,
  `DROP INDEX workflow_updated`,
  `ALTER TABLE workflow DROP COLUMN folded_name`,
  `DROP FUNCTION folded_words(text)`,
];
