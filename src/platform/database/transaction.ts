// A running transaction, as an opaque value that callers pass on to repositories.
import { Injectable } from '@nestjs/common';
import type { ClientBase } from 'pg';
import type { EntityManager } from 'typeorm';
import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import { Database, logged } from './database.js';
import { isDeadlock } from './database-error.js';
import type { PreparedStatement, SharedStatement } from './sql.js';

const manager = Symbol('the entity manager of a transaction');
const outside = Symbol('the pool for statements outside a transaction');

/**
 * A running transaction. Opaque: the service that begins it passes it to the repositories that write in it.
 */
export class Transaction {
  readonly [manager]: EntityManager;
  readonly [outside]: Database;

  constructor(entityManager: EntityManager, database: Database) {
    this[manager] = entityManager;
    this[outside] = database;
  }

  /** For repositories that read without a transaction, one statement at a time. */
  static none(database: Database): Transaction {
    return new Transaction(database.dataSource.manager, database);
  }
}

/** The entity manager of a transaction, for repositories. */
export function managerOf(transaction: Transaction): EntityManager {
  return transaction[manager];
}

/** Runs a prepared statement on the transaction's connection. @throws the driver's error */
export async function runIn<Input, Row>(
  transaction: Transaction,
  statement: PreparedStatement<Input, Row>,
  input: Input,
): Promise<Row[]> {
  const { queryRunner } = managerOf(transaction);
  const { [outside]: database } = transaction;
  if (queryRunner === undefined) return database.run(statement, input);
  // Another transaction may already use the connection.
  if (queryRunner.isReleased) throw new QueryRunnerAlreadyReleasedError();
  const client = (await queryRunner.connect()) as ClientBase;
  const given = statement.of(input);
  const { rows } = await logged(database.dataSource, given, () => client.query<Row & object>(given));
  return rows;
}

/** Runs a shared statement for one item in a transaction. */
export async function answerIn<Item, Row, Answer>(
  transaction: Transaction,
  statement: SharedStatement<Item, Row, Answer>,
  item: Item,
): Promise<Answer> {
  const [answer] = statement.answers(await runIn(transaction, statement, [item]), [item]);
  return answer as Answer;
}

/**
 * Throw it in a transaction that lost a race on a constraint: the transaction runs again and sees the winner.
 */
export class LostRaceError extends Error {}

/** More consecutive losses than this mean a bug, not a race. */
const MAX_ATTEMPTS = 5;

/** Begins transactions. */
@Injectable()
export class Transactions {
  constructor(private readonly database: Database) {}

  /**
   * Runs `work` in one transaction (read committed). Commits if it resolves, and rolls back if it throws.
   * Work that lost a race (LostRaceError, a deadlock) runs again from the beginning, so it must not have
   * other effects.
   */
  async run<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.database.dataSource.transaction((entityManager) =>
          work(new Transaction(entityManager, this.database)),
        );
      } catch (error) {
        const isLostRace = error instanceof LostRaceError || isDeadlock(error);
        if (!isLostRace || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Runs `work` on one snapshot of the database, in a transaction that cannot write and locks nothing. */
  read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.database.dataSource.transaction('REPEATABLE READ', async (entityManager) => {
      await entityManager.query('SET TRANSACTION READ ONLY');
      return work(new Transaction(entityManager, this.database));
    });
  }
}
