// The operations that a command may ask the running service for; there are no others.
import {
  ADD_CLIENT,
  ADD_CLIENT_SECRET,
  LIST_CLIENTS,
  REMOVE_CLIENT,
  REMOVE_CLIENT_SECRET,
} from './clients.operations.js';
import { CommandError } from './command-error.js';
import {
  ADD_ENTRY,
  CHANGE_ENTRY_POLICY,
  REMOVE_ENTRY,
  RESUME_ENTRY,
  SHOW_ENTRY,
  SUSPEND_ENTRY,
} from './entries.operations.js';
import { EXPLAIN_TOKEN } from './explain-token.operation.js';
import { IMPORT_WORKFLOWS } from './import-workflows.operation.js';
import { LIST_KEY_SETS, REFRESH_KEY_SETS } from './key-sets.operations.js';
import { LIST_ENTRIES } from './list-entries.operation.js';
import type { Operation } from './operation.js';
import { LIST_PROJECTS, SET_PROJECT_KEY } from './projects.operations.js';
import { EXPORT_EVENTS, LIST_EVENTS, TAIL_EVENTS } from './read-audit-trail.operation.js';
import { LIST_REVOCATIONS, RESTORE_KEYS, REVOKE_KEYS } from './revocations.operations.js';
import {
  DELETE_USER,
  DISABLE_USER,
  ENABLE_USER,
  SET_PASSWORD,
  SET_ROLE,
  SIGN_USER_OUT,
  UNLINK_USER,
} from './user-changes.operations.js';
import { CREATE_USER, LIST_USERS, SHOW_USER } from './users.operations.js';

/** One row each; a test holds them against the commands of the command line. */
export const OPERATIONS: readonly Operation[] = [
  LIST_KEY_SETS,
  REFRESH_KEY_SETS,
  REVOKE_KEYS,
  RESTORE_KEYS,
  LIST_REVOCATIONS,
  LIST_ENTRIES,
  SHOW_ENTRY,
  ADD_ENTRY,
  CHANGE_ENTRY_POLICY,
  SUSPEND_ENTRY,
  RESUME_ENTRY,
  REMOVE_ENTRY,
  ADD_CLIENT,
  LIST_CLIENTS,
  REMOVE_CLIENT,
  ADD_CLIENT_SECRET,
  REMOVE_CLIENT_SECRET,
  CREATE_USER,
  LIST_USERS,
  SHOW_USER,
  SET_ROLE,
  UNLINK_USER,
  DELETE_USER,
  DISABLE_USER,
  ENABLE_USER,
  SIGN_USER_OUT,
  SET_PASSWORD,
  LIST_PROJECTS,
  SET_PROJECT_KEY,
  IMPORT_WORKFLOWS,
  EXPLAIN_TOKEN,
  LIST_EVENTS,
  TAIL_EVENTS,
  EXPORT_EVENTS,
];

/** @throws CommandError for an unknown name */
export function findOperation(name: string): Operation {
  const operation = OPERATIONS.find((one) => one.name === name);
  if (operation === undefined) throw new CommandError('The service knows no such command.');
  return operation;
}
