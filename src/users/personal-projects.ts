// What users need of the workspace; the workspace implements it.
import type { Transaction } from '../platform/database/transaction.js';

/** Makes the project that belongs to one user alone. */
export abstract class PersonalProjects {
  abstract create(transaction: Transaction, userId: string): Promise<void>;
}
