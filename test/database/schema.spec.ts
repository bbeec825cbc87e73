// Entities and migrations describe the same tables.
import { SCHEMA } from '../../src/instance/schema.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { describeOnEachDatabase } from '../support/databases.js';

describeOnEachDatabase('the schema', (database) => {
  let opened: OpenDatabase;

  beforeAll(async () => {
    opened = await openDatabase(database.settings, SCHEMA);
  });
  afterAll(() => opened.close());

  it("has each entity's columns with their nullability", async () => {
    const columns = await opened.dataSource.query<{ name: string; nullable: string }[]>(
      `SELECT table_name || '.' || column_name AS name, is_nullable AS nullable
       FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const inTables = new Map(columns.map(({ name, nullable }) => [name, nullable === 'YES']));
    const wrong = opened.dataSource.entityMetadatas.flatMap(({ tableName, columns: fields }) =>
      fields
        .map(({ databaseName, isNullable }) => ({ name: `${tableName}.${databaseName}`, isNullable }))
        .filter(({ name, isNullable }) => inTables.get(name) !== isNullable),
    );
    expect(wrong).toEqual([]);
  });
});
