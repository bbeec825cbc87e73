// How the service's sessions with the database are set up.
import { randomUUID } from 'node:crypto';
import { runPrepared } from '../../src/database/prepared-statement.js';
import { describeOnEachDatabase } from '../support/databases.js';

describeOnEachDatabase('a session with the database', (database) => {
  it('plans a prepared statement once, however often it runs', async () => {
    const { dataSource } = await database.open();
    const statement = { name: `plans_${randomUUID()}`, text: 'SELECT $1::integer + 1 AS next' };
    for (let round = 1; round <= 10; round++) {
      expect(await runPrepared(dataSource, statement, [round])).toEqual([{ next: round + 1 }]);
    }
    const plans = await dataSource.query<{ generic: string; custom: string }[]>(
      'SELECT generic_plans AS generic, custom_plans AS custom FROM pg_prepared_statements WHERE name = $1',
      [statement.name],
    );
    expect(plans).toEqual([{ generic: '10', custom: '0' }]);
  });
});
