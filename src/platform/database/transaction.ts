// One running transaction as a value that callers pass on and only repositories look into.
import { Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';
import { Database } from './database.js';
import { isDeadlock } from './database-error.js';

const manager = Symbol('the entity manager of a transaction');

/** A running transaction. Opaque: it is handed from the service that began it to the repositories that write in it. */
export class Transaction {
  readonly [manager]: EntityManager;

  constructor(entityManager: EntityManager) {
    this[manager] = entityManager;
  }
}

/** The entity manager of a transaction, for repositories. */
export function managerOf(transaction: Transaction): EntityManager {
  return transaction[manager];
}

/** Thrown inside a transaction that lost a race which a constraint decided: run again, it will see the winner. */
export class LostRaceError extends Error {}

/** More losers than this in a row means a fault, not a race. */
const MAX_ATTEMPTS = 5;

/** Begins transactions. */
@Injectable()
export class Transactions {
  constructor(private readonly database: Database) {}

  /**
   * Runs `work` in one transaction (read committed): committed when it resolves, rolled back when it throws. Work that
   * lost a race (LostRaceError, a deadlock) is run again from its beginning, so it must not touch anything else.
   */
  async run<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.database.dataSource.transaction((entityManager) =>
          work(new Transaction(entityManager)),
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
      return work(new Transaction(entityManager));
    });
  }
}
