// How the schema gets up to date when several instances, or one with a single connection, start.
import { openDatabase } from '../../src/platform/database/data-source.js';
import { SCHEMA } from '../../src/instance/schema.js';
import { describeOnPostgresql } from '../support/databases.js';

describeOnPostgresql('migrations', (database) => {
  const settings = (poolSize: number) => {
    if (database.settings.kind !== 'postgresql') throw new Error('these tests are about PostgreSQL');
    return { ...database.settings, poolSize };
  };

  it('run with a pool of one connection', async () => {
    const opened = await openDatabase(settings(1), SCHEMA);
    await opened.dataSource.undoLastMigration();
    await opened.close();
    const again = await openDatabase(settings(1), SCHEMA);
    expect(again.appliedMigrations).toHaveLength(1);
    await again.close();
  });

  it('run once when five instances start at the same moment', async () => {
    const first = await openDatabase(settings(2), SCHEMA);
    await first.dataSource.undoLastMigration();
    await first.close();
    const instances = await Promise.all([1, 2, 3, 4, 5].map(() => openDatabase(settings(2), SCHEMA)));
    const applied = instances.flatMap(({ appliedMigrations }) => appliedMigrations);
    await Promise.all(instances.map((instance) => instance.close()));
    expect(applied).toHaveLength(1);
  });

  it('have an undo for every step, back to an empty database', async () => {
    const opened = await openDatabase(settings(2), SCHEMA);
    const count = opened.dataSource.migrations.length;
    for (let step = 0; step < count; step++) await opened.dataSource.undoLastMigration();
    const left = await opened.dataSource.query<{ table_name: string }[]>(
      `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    await opened.close();
    expect(left.map(({ table_name: name }) => name)).toEqual(['schema_migration']);
  });
});
