// The operations that a command may ask the running service for; there are no others.
import type { Type } from '@nestjs/common';
import { ClientOperations } from './clients.operations.js';
import { CommandError } from './command-error.js';
import { EntryOperations } from './entries.operations.js';
import { TokenOperations } from './explain-token.operation.js';
import { WorkflowOperations } from './import-workflows.operation.js';
import { KeySetOperations } from './key-sets.operations.js';
import { EntryListOperations } from './list-entries.operation.js';
import type { Operation } from './operation.js';
import { operationsOf } from './operation.js';
import { ProjectOperations } from './projects.operations.js';
import { AuditOperations } from './read-audit-trail.operation.js';
import { RevocationOperations } from './revocations.operations.js';
import { SigningKeyOperations } from './signing-keys.operations.js';
import { UserChangeOperations } from './user-changes.operations.js';
import { UserOperations } from './users.operations.js';

export const OPERATION_TYPES: readonly Type<object>[] = [
  KeySetOperations,
  RevocationOperations,
  SigningKeyOperations,
  EntryListOperations,
  EntryOperations,
  ClientOperations,
  UserOperations,
  UserChangeOperations,
  ProjectOperations,
  WorkflowOperations,
  TokenOperations,
  AuditOperations,
];

export const OPERATIONS: readonly Operation[] = OPERATION_TYPES.flatMap(operationsOf);

/** @throws CommandError for an unknown name */
export function findOperation(name: string): Operation {
  const operation = OPERATIONS.find((one) => one.name === name);
  if (operation === undefined) throw new CommandError('The service knows no such command.');
  return operation;
}
