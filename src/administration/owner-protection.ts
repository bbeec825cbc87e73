// Keeps administrators at the operator's page from the owner: what is the owner's to decide, and what concerns the owner's account.
import { OWNER_ROLE } from '../users/role.js';
import type { User } from '../users/user.repository.js';
import { CommandError } from './command-error.js';
import type { ChangeWork } from './operation.js';

/** Whether an operator asks who is not the owner. Commands need a shell, and may all. */
export function isAdministrator(operator: User | undefined): boolean {
  return operator !== undefined && operator.role !== OWNER_ROLE;
}

/**
 * @rule D122 At the operator's page nobody but the owner switches the owner's account, or ends the owner's sessions.
 * @throws CommandError
 */
export async function refuseOwner(
  userId: string,
  { parts, transaction, operator }: ChangeWork,
): Promise<void> {
  if (!isAdministrator(operator)) return;
  const user = await parts.users.findById(userId, transaction);
  if (user?.role === OWNER_ROLE)
    throw new CommandError("Only the owner changes the state of the owner's account, or ends its sessions.");
}
