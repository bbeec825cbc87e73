// Statements that the database parses and plans once per connection.
import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { DataSource } from 'typeorm';
import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import type { Sql } from './sql.js';
import { writtenSql } from './sql.js';
import { Batch } from './batch.js';
import { ask, driverPool } from './driver-pool.js';
import type { Answer, Statement } from './pool.js';
import { limitsOf } from './limited-driver.js';
import { logged } from './query-log.js';
import type { Transaction } from './transaction.js';
import { managerOf } from './transaction.js';

/** PostgreSQL cuts longer names, and might take two statements for one. */
const MAX_NAME_BYTES = 63;

/** The text of each name. */
const known = new Map<string, string>();

/** The name of a statement about a table that a host names: hosts of one process may name several. */
export function nameOn(table: object, name: string): string {
  return `${name}_${createHash('sha256').update(JSON.stringify(table)).digest('hex').slice(0, 8)}`;
}

/** A statement with a name of its own; under one name there is only ever one text. */
export class PreparedStatement<Input, Row> {
  readonly text: string;
  /** The values of its parameters, in their order. */
  readonly values: (input: Input) => unknown[];

  constructor(
    readonly name: string,
    statement: Sql<Input>,
  ) {
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new RangeError(`${name} is too long for a name`);
    ({ text: this.text, values: this.values } = writtenSql(statement));
    if ((known.get(name) ?? this.text) !== this.text)
      throw new RangeError(`there is another statement ${name} already`);
    known.set(name, this.text);
  }

  /**
   * Runs it outside any transaction of the service: it is one by itself. TypeORM has no prepared statements, and its query runner
   * is some work by itself: this goes to the driver's pool of connections.
   * @throws the driver's error
   */
  run(dataSource: DataSource, input: Input): Promise<Row[]> {
    return this.send((statement) => ask(driverPool(dataSource), statement), dataSource, input);
  }

  /** Runs it in a transaction, on whose connection it is planned. @throws the driver's error */
  async runIn(transaction: Transaction, input: Input): Promise<Row[]> {
    // Of the names that TypeORM has for its data source, version 0.3 knows this one alone.
    const { queryRunner, connection } = managerOf(transaction);
    if (queryRunner === undefined) return this.run(connection, input);
    // Its connection may serve somebody else by now.
    if (queryRunner.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const client = (await queryRunner.connect()) as ClientBase;
    return this.send((statement) => client.query(statement), connection, input);
  }

  private async send(
    sent: (statement: Statement) => Promise<Answer>,
    dataSource: DataSource,
    input: Input,
  ): Promise<Row[]> {
    const { name, text } = this;
    const statement = { name, text, values: this.values(input) };
    const { rows } = await logged(dataSource, statement, () => sent(statement));
    return rows as Row[];
  }
}

/**
 * Name and text of the statement, how its values are made from the items of a batch, and how its rows become each item's
 * answer.
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

  /** The answer to one item, in a transaction. */
  async answerIn(transaction: Transaction, item: Item): Promise<Answer> {
    const [answer] = this.answers(await this.runIn(transaction, [item]), [item]);
    return answer as Answer;
  }

  /** Where the requests of one repository gather. */
  on(dataSource: DataSource): Batch<Item, Answer> {
    const run = async (items: readonly Item[]) => this.answers(await this.run(dataSource, items), items);
    return new Batch(run, limitsOf(dataSource).waitMs);
  }
}
