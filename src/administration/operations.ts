// All operations that a command may request from the running service.
import type { Type } from '@nestjs/common';
import { ClientOperations } from './clients/clients.operations.js';
import { CommandError } from './command-error.js';
import { EntryOperations } from './entries/entries.operations.js';
import { EntryListOperations } from './entries/list-entries.operation.js';
import { TokenOperations } from './explain/explain-token.operation.js';
import { KeySetOperations } from './keys/key-sets.operations.js';
import { RevocationOperations } from './keys/revocations.operations.js';
import { SigningKeyOperations } from './keys/signing-keys.operations.js';
import type { Operation } from './operation.js';
import { operationsOf } from './operation.js';
import { WorkflowOperations } from './projects/import-workflows.operation.js';
import { ProjectOperations } from './projects/projects.operations.js';
import { SignalOperations } from './signals/signals.operations.js';
import { AuditOperations } from './trail/read-audit-trail.operation.js';
import { UsageOperations } from './usage/usage.operations.js';
import { UserChangeOperations } from './users/user-changes.operations.js';
import { UserOperations } from './users/users.operations.js';

export const OPERATION_TYPES: readonly Type<object>[] = [
  KeySetOperations,
  RevocationOperations,
  SigningKeyOperations,
  SignalOperations,
  EntryListOperations,
  EntryOperations,
  ClientOperations,
  UserOperations,
  UserChangeOperations,
  ProjectOperations,
  WorkflowOperations,
  TokenOperations,
  AuditOperations,
  UsageOperations,
];

export const OPERATIONS: readonly Operation[] = OPERATION_TYPES.flatMap(operationsOf);

/** @throws CommandError for an unknown name */
export function findOperation(name: string): Operation {
  const operation = OPERATIONS.find((one) => one.name === name);
  if (operation === undefined) throw new CommandError('The service has no such command.');
  return operation;
}
