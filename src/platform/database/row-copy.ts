// Copies all rows of a database into another, empty one with the same tables.
import type { DataSource, EntityManager } from 'typeorm';
import { MIGRATIONS_TABLE } from './migrate.js';

/** A page of the largest rows must fit into memory. */
const PAGE_ROWS = 200;

/**
 * The default of columns that refer to the database's own transactions. Their values mean nothing in another
 * database, so the copy gets a new one.
 */
const OWN_TRANSACTION = 'txid_current()';

/**
 * Replacements by table and column: the SQL to read instead of the column, with the row as `source`. If it is
 * null, the copy gets the column's default.
 */
export type ColumnsInCopy = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface CopySteps {
  readonly columns: ColumnsInCopy;
  /** Called after each page. */
  readonly onPage: (table: string, rows: number) => void;
  /**
   * Called when all rows are written but not committed. If it throws, nothing was copied. After it returns,
   * the commit may or may not succeed.
   */
  readonly beforeCommit: () => void;
}

interface Table {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly default: string | null;
    readonly isIdentity: boolean;
  }[];
}

/** Referenced tables come first. Unlogged tables are left out; a crash would empty them too. */
const TABLES = `WITH RECURSIVE copied AS (
    SELECT oid, relname FROM pg_class
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      AND relkind = 'r' AND relpersistence = 'p' AND relname <> '${MIGRATIONS_TABLE}'
  ), levels (oid, level) AS (
    SELECT oid, 0 FROM copied
    UNION ALL
    SELECT conrelid, level + 1 FROM levels JOIN pg_constraint ON confrelid = levels.oid AND contype = 'f'
  )
  SELECT relname AS name, (
    SELECT json_agg(json_build_object('name', attname, 'default', pg_get_expr(adbin, adrelid), 'isIdentity', attidentity <> '') ORDER BY attnum)
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = copied.oid AND attnum > 0 AND NOT attisdropped
  ) AS columns
  FROM copied ORDER BY (SELECT max(level) FROM levels WHERE levels.oid = copied.oid), relname`;

/**
 * Reads one snapshot and writes in one transaction. Our triggers are disabled, and nobody else can write.
 * @returns the number of rows in each table
 * @throws Error if a table of the target has rows
 */
export function copyRows(
  source: DataSource,
  target: DataSource,
  { columns, onPage, beforeCommit }: CopySteps,
): Promise<Record<string, number>> {
  return source.transaction('REPEATABLE READ', (from) =>
    target.transaction(async (to) => {
      const tables = await from.query<Table[]>(TABLES);
      // This also locks the tables against other writers.
      for (const { name } of tables) await to.query(`ALTER TABLE "${name}" DISABLE TRIGGER USER`);
      await requireEmpty(to, tables);
      const counts: Record<string, number> = {};
      for (const table of tables) {
        const { name } = table;
        counts[name] = 0;
        for await (const rows of pagesOf(from, table, columns[name] ?? {})) {
          await insert(to, table, rows);
          counts[name] += rows.length;
          onPage(name, counts[name]);
        }
        await copySequences(from, to, table);
        await to.query(`ALTER TABLE "${name}" ENABLE TRIGGER USER`);
      }
      beforeCommit();
      return counts;
    }),
  );
}

async function requireEmpty(to: EntityManager, tables: readonly Table[]): Promise<void> {
  const filled: string[] = [];
  for (const { name } of tables)
    if ((await to.query<unknown[]>(`SELECT FROM "${name}" LIMIT 1`)).length > 0) filled.push(name);
  if (filled.length === 0) return;
  throw new Error(`the target has rows in ${filled.join(', ')}; copy into an empty database`);
}

/** Reads rows in PostgreSQL's text format, which it reads back without loss for all column types. */
async function* pagesOf(
  from: EntityManager,
  { name, columns }: Table,
  inCopy: Readonly<Record<string, string>>,
): AsyncGenerator<string[], void> {
  const values = columns.map((column) => {
    const read = column.default === OWN_TRANSACTION ? 'NULL' : `source."${column.name}"`;
    return inCopy[column.name] ?? read;
  });
  await from.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ROW(${values.join(', ')})::text AS row FROM "${name}" AS source`,
  );
  for (;;) {
    const page = await from.query<{ row: string }[]>(`FETCH ${PAGE_ROWS} FROM copied`);
    if (page.length > 0) yield page.map(({ row }) => row);
    if (page.length < PAGE_ROWS) break;
  }
  await from.query('CLOSE copied');
}

async function insert(to: EntityManager, { name, columns }: Table, rows: readonly string[]): Promise<void> {
  const values = columns.map((column) =>
    column.default === OWN_TRANSACTION
      ? `coalesce("${column.name}", ${OWN_TRANSACTION})`
      : `"${column.name}"`,
  );
  await to.query(
    `INSERT INTO "${name}" OVERRIDING SYSTEM VALUE SELECT ${values.join(', ')} FROM unnest($1::"${name}"[])`,
    [rows],
  );
}

/** Copies the sequences themselves: the numbers of deleted rows must not be used again. */
async function copySequences(
  from: EntityManager,
  to: EntityManager,
  { name, columns }: Table,
): Promise<void> {
  for (const { name: column } of columns.filter(({ isIdentity }) => isIdentity)) {
    const [found] = await from.query<{ sequence: string }[]>(
      'SELECT pg_get_serial_sequence($1, $2) AS sequence',
      [name, column],
    );
    const [state] = await from.query<{ last: string; isCalled: boolean }[]>(
      `SELECT last_value AS last, is_called AS "isCalled" FROM ${found?.sequence}`,
    );
    await to.query('SELECT setval(pg_get_serial_sequence($1, $2), $3, $4)', [
      name,
      column,
      state?.last,
      state?.isCalled,
    ]);
  }
}
