// How much the workflows and credentials of each project take in the database, which the database itself counts.

/** As the database stores them, so that nothing large is read for it: compressed values count as compressed. */
const STORED: Readonly<Record<string, string>> = {
  workflow: 'pg_column_size(nodes) + pg_column_size(connections)',
  credential: 'pg_column_size(sealed_data)',
};
const COUNTED = Object.keys(STORED);

export const SIZE_FUNCTIONS = COUNTED.map((table) => `count_${table}_bytes()`);

/**
 * Triggers, because deletions cascade. Each statement writes at most one row per project, after the rows that the statement
 * itself has locked, so that no two statements wait for each other.
 */
export const COUNT_PROJECT_SIZES: readonly string[] = [
  `CREATE TABLE project_size (
    project_id uuid PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    bytes bigint NOT NULL
  )`,
  ...COUNTED.flatMap(counting),
];

/**
 * New rows are read from the table, because they are not compressed before they are stored; each by its key, which LIMIT 1
 * makes PostgreSQL use.
 */
function counting(table: string): string[] {
  const added = `SELECT stored.* FROM added CROSS JOIN LATERAL (
    SELECT project_id, ${STORED[table]} AS bytes FROM ${table} WHERE ${table}.id = added.id LIMIT 1
  ) stored`;
  const removed = `SELECT project_id, -(${STORED[table]}) AS bytes FROM removed`;
  const sums = (rows: string) =>
    `SELECT project_id, sum(bytes)::bigint AS bytes FROM (${rows}) written GROUP BY project_id HAVING sum(bytes) <> 0`;
  const change = (rows: string) =>
    `UPDATE project_size size SET bytes = size.bytes + change.bytes FROM (${sums(rows)}) change
      WHERE size.project_id = change.project_id`;
  const [oldRows, newRows] = ['OLD TABLE AS removed', 'NEW TABLE AS added'];
  const trigger = (event: string, tables: string) =>
    `CREATE TRIGGER ${table}_bytes_${event} AFTER ${event} ON ${table} REFERENCING ${tables}
      FOR EACH STATEMENT EXECUTE FUNCTION count_${table}_bytes()`;
  return [
    `CREATE FUNCTION count_${table}_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO project_size AS size (project_id, bytes) ${sums(added)}
        ON CONFLICT (project_id) DO UPDATE SET bytes = size.bytes + excluded.bytes;
      ELSIF TG_OP = 'UPDATE' THEN
        ${change(`${added} UNION ALL ${removed}`)};
      ELSE
        ${change(removed)};
      END IF;
      RETURN NULL;
    END $$`,
    trigger('insert', newRows),
    trigger('update', `${oldRows} ${newRows}`),
    trigger('delete', oldRows),
  ];
}
