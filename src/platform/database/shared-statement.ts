// One statement for what several requests ask at the same moment, with an answer for each.
import type { DataSource } from 'typeorm';
import { Batch } from './batch.js';
import { PreparedStatement } from './prepared-statement.js';
import type { Sql } from './sql.js';
import { limitsOf } from './wait-limit.js';

/**
 * Name and text of the statement, how its values are made from the items of a batch, and how its rows become each item's
 * answer. Requests that get in each other's way need turns besides: see `ConsumptionBatch`.
 */
export class SharedStatement<Item, Row, Answer> extends PreparedStatement<readonly Item[], Row> {
  /** @param answers each item's answer, in the order of the items */
  constructor(
    name: string,
    statement: Sql<readonly Item[]>,
    private readonly answers: (rows: readonly Row[], items: readonly Item[]) => readonly Answer[],
  ) {
    super(name, statement);
  }

  /** Where the requests of one repository gather. */
  on(dataSource: DataSource): Batch<Item, Answer> {
    const run = async (items: readonly Item[]) => this.answers(await this.run(dataSource, items), items);
    return new Batch(run, limitsOf(dataSource).waitMs);
  }
}
