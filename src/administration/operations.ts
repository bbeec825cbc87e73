// The operations that a command may ask the running service for; there are no others.
import { ADD_ENTRY } from './add-entry.operation.js';
import { CHANGE_ENTRY_POLICY } from './change-entry-policy.operation.js';
import { DELETE_USER, SET_ROLE, UNLINK_USER } from './change-user.operation.js';
import { ADD_CLIENT, LIST_CLIENTS, REMOVE_CLIENT } from './clients.operations.js';
import { CREATE_USER } from './create-user.operation.js';
import { EXPLAIN_TOKEN } from './explain-token.operation.js';
import { IMPORT_WORKFLOWS } from './import-workflows.operation.js';
import { LIST_ENTRIES } from './list-entries.operation.js';
import { LIST_KEY_SETS } from './list-key-sets.operation.js';
import { LIST_USERS } from './list-users.operation.js';
import { LIST_REVOCATIONS } from './list-revocations.operation.js';
import type { Operation } from './operation.js';
import { LIST_PROJECTS, SET_PROJECT_KEY } from './projects.operations.js';
import { REFRESH_KEY_SETS } from './refresh-key-sets.operation.js';
import { EXPORT_EVENTS, LIST_EVENTS, TAIL_EVENTS } from './read-audit-trail.operation.js';
import { RESTORE_KEYS, REVOKE_KEYS } from './revoke-keys.operation.js';
import { SET_PASSWORD } from './set-password.operation.js';
import { SHOW_USER } from './show-user.operation.js';
import { SIGN_USER_OUT } from './sign-user-out.operation.js';
import { REMOVE_ENTRY, RESUME_ENTRY, SUSPEND_ENTRY } from './switch-entry.operation.js';
import { DISABLE_USER, ENABLE_USER } from './switch-user.operation.js';

/** One row each; a test holds them against the commands of the command line. */
export const OPERATIONS: readonly Operation[] = [
  LIST_KEY_SETS,
  REFRESH_KEY_SETS,
  REVOKE_KEYS,
  RESTORE_KEYS,
  LIST_REVOCATIONS,
  LIST_ENTRIES,
  ADD_ENTRY,
  CHANGE_ENTRY_POLICY,
  SUSPEND_ENTRY,
  RESUME_ENTRY,
  REMOVE_ENTRY,
  ADD_CLIENT,
  LIST_CLIENTS,
  REMOVE_CLIENT,
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

export function findOperation(name: unknown): Operation | undefined {
  return OPERATIONS.find((operation) => operation.name === name);
}
