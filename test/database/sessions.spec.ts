// How the service's sessions with the database are set up.
import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database.js';
import { PreparedStatement } from '../../src/platform/database/prepared-statement.js';
import { parameter, sql } from '../../src/platform/database/sql.js';
import { describeOnEachDatabase } from '../support/databases.js';

describeOnEachDatabase('a session with the database', (database) => {
  it('plans a prepared statement once, however often it runs', async () => {
    const { dataSource } = await database.open();
    const round = parameter('integer', (input: number) => input);
    const statement = new PreparedStatement<number, { next: number }>(
      `plans_${randomUUID()}`,
      sql`SELECT ${round} + 1 AS next`,
    );
    for (let input = 1; input <= 10; input++) {
      expect(await new Database(dataSource).run(statement, input)).toEqual([{ next: input + 1 }]);
    }
    const plans = await dataSource.query<{ generic: string; custom: string }[]>(
      'SELECT generic_plans AS generic, custom_plans AS custom FROM pg_prepared_statements WHERE name = $1',
      [statement.name],
    );
    expect(plans).toEqual([{ generic: '10', custom: '0' }]);
  });
});
