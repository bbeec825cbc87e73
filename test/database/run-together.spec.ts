// Statements that run together in one transaction, whatever the default of the database is.
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { PreparedStatement, runTogether } from '../../src/platform/database/prepared-statement.js';
import { sql } from '../../src/platform/database/sql.js';
import { describeOnPostgresql } from '../support/databases.js';

const ISOLATION = new PreparedStatement<undefined, { level: string }>(
  'test_isolation',
  sql`SELECT current_setting('transaction_isolation') AS level`,
);

describeOnPostgresql('[D104] statements in one transaction', (database) => {
  let opened: OpenDatabase;

  beforeAll(async () => {
    const { dataSource } = await database.open();
    await dataSource.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), 'repeatable read'); END $$`,
    );
    opened = await database.open();
  });

  it('each see what was committed before they began', async () => {
    const [byDefault] = await opened.dataSource.query<{ level: string }[]>(
      `SELECT current_setting('transaction_isolation') AS level`,
    );
    const [together] = await runTogether(opened.dataSource, (ask) => ask(ISOLATION, undefined));
    expect([byDefault?.level, together?.level]).toEqual(['repeatable read', 'read committed']);
  });
});
