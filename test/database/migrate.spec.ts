// Schema migration: at the start of several instances, next to an instance of the previous release, and back again.
import { randomUUID } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DataSource } from 'typeorm';
import { MIGRATIONS, SCHEMA } from '../../src/instance/schema.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { openDatabase, prepareDatabase } from '../../src/platform/database/data-source.js';
import { runMigrations } from '../../src/platform/database/migrate.js';
import { StartError } from '../../src/platform/start-error.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';

const NAMES = [
  ...['TokenExchange1795800000000', 'Instance1795800000100'],
  ...['TokenExchange1795900000000', 'Instance1795900000100'],
];

/** What a later release may do: it adds what this one can live with. */
class Later1899999999999 implements MigrationInterface {
  readonly name = 'Later1899999999999';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE user_account ADD COLUMN nickname text');
    await queryRunner.query('CREATE TABLE later (id uuid PRIMARY KEY)');
  }

  async down(): Promise<void> {
    // No release goes back by it.
  }
}

/** Migrates as the later release does, by a data source that has the same connection settings. */
async function migrateAsLaterRelease({ dataSource }: OpenDatabase): Promise<string[]> {
  const later = new DataSource({ ...dataSource.options, migrations: [...MIGRATIONS, Later1899999999999] });
  await later.initialize();
  try {
    return await runMigrations(later);
  } finally {
    await later.destroy();
  }
}

async function addUser({ dataSource }: OpenDatabase): Promise<void> {
  await dataSource.query(
    `INSERT INTO user_account (id, email, normalized_email, role) VALUES ($1, $2, $2, 'global:member')`,
    [randomUUID(), `${randomUUID()}@partner.example`],
  );
}

async function undoAll({ dataSource }: OpenDatabase): Promise<void> {
  let left = MIGRATIONS.length;
  while (left-- > 0) await dataSource.undoLastMigration();
}

describeOnPostgresql('migrations', (database) => {
  const settings = (poolSize: number) => {
    if (database.settings.kind !== 'postgresql') throw new Error('these tests are about PostgreSQL');
    return { ...database.settings, poolSize };
  };
  const emptied = async () => {
    const opened = await openDatabase(settings(2), SCHEMA);
    await undoAll(opened);
    await opened.close();
  };

  it('run with a pool of one connection', async () => {
    await emptied();
    const opened = await openDatabase(settings(1), SCHEMA);
    expect(opened.appliedMigrations).toEqual(NAMES);
    await opened.close();
  });

  it('run once if five instances start at once', async () => {
    await emptied();
    const instances = await Promise.all([1, 2, 3, 4, 5].map(() => openDatabase(settings(2), SCHEMA)));
    const applied = instances.flatMap(({ appliedMigrations }) => appliedMigrations);
    await Promise.all(instances.map((instance) => instance.close()));
    expect(applied).toEqual(NAMES);
  });

  it('can undo every step, back to an empty database', async () => {
    const opened = await openDatabase(settings(2), SCHEMA);
    await undoAll(opened);
    const left = await opened.dataSource.query<{ name: string }[]>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'
       UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
    );
    await opened.close();
    expect(left.map(({ name }) => name)).toEqual(['schema_migration']);
  });
});

describeOnPostgresql('a later release that migrates the database', (database) => {
  it('allows this version to continue and to restart', async () => {
    const running = await openDatabase(database.settings, SCHEMA);
    expect(await migrateAsLaterRelease(running)).toEqual(['Later1899999999999']);
    await addUser(running);
    const started = await openDatabase(database.settings, SCHEMA);
    expect(started.appliedMigrations).toEqual([]);
    await addUser(started);
    const columns = await running.dataSource.query<unknown[]>('SELECT nickname FROM user_account');
    expect(columns).toEqual([{ nickname: null }, { nickname: null }]);
    await Promise.all([running.close(), started.close()]);
  });
});

describeOnEachDatabase('a database of an unreleased version', (database) => {
  const start = async () => (await openDatabase(database.settings, SCHEMA)).close();
  const holds = async (...statements: string[]) => {
    const { dataSource, close } = await prepareDatabase(database.settings, SCHEMA);
    await dataSource.initialize();
    for (const statement of ['DROP SCHEMA public CASCADE', 'CREATE SCHEMA public', ...statements])
      await dataSource.query(statement);
    await close();
  };

  it('is refused at the start', async () => {
    await holds(`CREATE TABLE schema_migration AS SELECT 1 AS id, 'Initial1790000000000' AS name`);
    await expect(start()).rejects.toThrow(
      new StartError(
        'The database was created by an unreleased version of this service, which no migration converts. Start with an empty database.',
      ),
    );
  });

  it("is refused by the package's migrations too, for any host", async () => {
    await holds('CREATE TABLE token_exchange_used_jti (id int)');
    await expect(start()).rejects.toThrow(
      /^The database has tables of token exchange that an unreleased version made \(token_exchange_used_jti/,
    );
  });
});
