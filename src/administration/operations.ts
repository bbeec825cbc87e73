// The operations that a command may ask the running service for; there are no others.
import { CREATE_USER } from './create-user.operation.js';
import { IMPORT_WORKFLOWS } from './import-workflows.operation.js';
import { LIST_KEY_SETS } from './list-key-sets.operation.js';
import { LIST_USERS } from './list-users.operation.js';
import type { Operation } from './operation.js';
import { DISABLE_USER, ENABLE_USER } from './switch-user.operation.js';

/** One row each; a test holds them against the commands of the command line. */
export const OPERATIONS: readonly Operation[] = [
  LIST_KEY_SETS,
  CREATE_USER,
  LIST_USERS,
  DISABLE_USER,
  ENABLE_USER,
  IMPORT_WORKFLOWS,
];

export function findOperation(name: unknown): Operation | undefined {
  return OPERATIONS.find((operation) => operation.name === name);
}
