// The index of request ids comes while instances of the release before go on writing, and after whatever has cut it off.
import { SCHEMA } from '../../src/instance/schema.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { until } from '../support/until.js';

const NAME = 'AuditRequest1790000000100';
const INSERTION = `INSERT INTO audit_event (name, occurred_at, request_id, payload) VALUES ('e', now(), $1, '{}')`;
const BUILDING = "query LIKE 'CREATE INDEX CONCURRENTLY%' AND datname = current_database()";

const takeBack = async ({ dataSource }: OpenDatabase) => {
  await dataSource.query('DROP INDEX IF EXISTS audit_event_request');
  await dataSource.query('DELETE FROM schema_migration WHERE name = $1', [NAME]);
};
const isValid = async ({ dataSource }: OpenDatabase) => {
  const [row] = await dataSource.query<{ valid: boolean }[]>(
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('audit_event_request')`,
  );
  return row?.valid;
};

describeOnEachDatabase('[D85] the index of request ids', (database) => {
  it('[D85] is there, and is made again where the migration is taken back', async () => {
    const opened = await openDatabase(database.settings, SCHEMA);
    expect(await isValid(opened)).toBe(true);
    await takeBack(opened);
    await opened.close();
    const again = await openDatabase(database.settings, SCHEMA);
    expect([again.appliedMigrations, await isValid(again)]).toEqual([[NAME], true]);
    await again.close();
  });
});

describeOnPostgresql('[D85] the index of request ids beside others', (database) => {
  let old: OpenDatabase;

  beforeEach(async () => {
    old = await database.open();
    await takeBack(old);
  });

  /** A transaction that has written, and goes on: an index waits for it. */
  const writing = async () => {
    const runner = old.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(INSERTION, ['under way']);
    return runner;
  };
  const builders = () =>
    old.dataSource.query<{ pid: number }[]>(
      `SELECT pid FROM pg_stat_activity WHERE ${BUILDING} AND state = 'active'`,
    );

  it('[D85] nobody waits for it who writes, and two instances that start together make it once', async () => {
    const runner = await writing();
    const starts = [1, 2].map(() => openDatabase(database.settings, SCHEMA));
    await until('the index is being built', 15_000, async () => (await builders()).length === 1);
    await old.dataSource.query(INSERTION, ['beside it']);
    expect(await isValid(old)).not.toBe(true);
    await runner.commitTransaction();
    await runner.release();
    const instances = await Promise.all(starts);
    expect(instances.flatMap(({ appliedMigrations }) => appliedMigrations)).toEqual([NAME]);
    expect(await isValid(old)).toBe(true);
    await Promise.all(instances.map((instance) => instance.close()));
  });

  it('[D85] what was cut off is taken away, and made anew', async () => {
    const runner = await writing();
    const start = openDatabase(database.settings, SCHEMA);
    await until('the index is being built', 15_000, async () => (await builders()).length === 1);
    const cut = expect(start).rejects.toThrow(/terminat|connection/i);
    await old.dataSource.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${BUILDING}`);
    await cut;
    await runner.commitTransaction();
    await runner.release();
    expect(await isValid(old)).toBe(false);
    const again = await openDatabase(database.settings, SCHEMA);
    expect([again.appliedMigrations, await isValid(old)]).toEqual([[NAME], true]);
    await again.close();
  });

  it('[D85] one that was made and not written down is left as it is', async () => {
    const oidOf = async () =>
      (await old.dataSource.query<{ oid: string }[]>(`SELECT 'audit_event_request'::regclass::oid AS oid`))[0]
        ?.oid;
    await (await openDatabase(database.settings, SCHEMA)).close();
    const before = await oidOf();
    await old.dataSource.query('DELETE FROM schema_migration WHERE name = $1', [NAME]);
    const again = await openDatabase(database.settings, SCHEMA);
    expect([again.appliedMigrations, await oidOf()]).toEqual([[NAME], before]);
    await again.close();
  });
});
