// What a host's log of TypeORM has of the statements that go past TypeORM to the driver.
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { parameter, PreparedStatement, sql } from '../../src/platform/database/sql.js';
import { runIn, Transactions } from '../../src/platform/database/transaction.js';
import { describeOnEachDatabase } from '../support/databases.js';

const TEXT = 'SELECT 1 / $1::integer FROM pg_sleep(0.02)';
const PREPARED = new PreparedStatement<number, unknown>(
  'division_that_takes_its_time',
  sql`SELECT 1 / ${parameter('integer', (divisor: number) => divisor)} FROM pg_sleep(0.02)`,
);

describeOnEachDatabase('the TypeORM log', (database) => {
  let dataSource: DataSource;
  let lines: unknown[];

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    const ignore = () => undefined;
    const note = (kind: string, text: string, values: unknown) => {
      if (text === TEXT) lines.push([kind, values]);
    };
    dataSource.logger = {
      logQuery: (text, values) => note('query', text, values),
      logQueryError: (_, text, values) => note('error', text, values),
      logQuerySlow: (_, text, values) => note('slow', text, values),
      logSchemaBuild: ignore,
      logMigration: ignore,
      log: ignore,
    };
  });
  beforeEach(() => (lines = []));

  const limitedTo = (milliseconds: number) =>
    Object.assign(dataSource.options, { maxQueryExecutionTime: milliseconds });

  it.each<[string, (divisor: number) => Promise<unknown>]>([
    ['prepared', (divisor) => new Database(dataSource).run(PREPARED, divisor)],
    [
      'prepared, in a transaction',
      (divisor) =>
        new Transactions(new Database(dataSource)).run((transaction) =>
          runIn(transaction, PREPARED, divisor),
        ),
    ],
    ['not prepared', (divisor) => new Database(dataSource).query(TEXT, [divisor])],
  ])('contains a statement that is %s, and that it failed or was slow', async (_, divideBy) => {
    limitedTo(60_000);
    await divideBy(1);
    await expect(divideBy(0)).rejects.toMatchObject({ code: '22012' });
    // TypeORM treats 0 as no limit.
    limitedTo(0);
    await divideBy(3);
    limitedTo(1);
    await divideBy(2);
    expect(lines).toEqual([
      ['query', [1]],
      ['query', [0]],
      ['error', [0]],
      ['query', [3]],
      ['query', [2]],
      ['slow', [2]],
    ]);
  });
});
