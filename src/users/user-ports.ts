// The users' ports to rooms that keep rows for users.
import type { Sql } from '../platform/database/sql.js';
import type { Transaction } from '../platform/database/transaction.js';

export abstract class PersonalProjects {
  /** Common table expressions that insert the personal project of the user in `made`, so that one statement creates both. */
  abstract readonly insertForCreated: Sql;
}

export abstract class OperatorSessions {
  /** @returns the number of deleted sessions */
  abstract deleteOfUser(transaction: Transaction, userId: string): Promise<number>;
}
