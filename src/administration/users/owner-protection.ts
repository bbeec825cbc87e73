// Protects the owner's account and decisions from administrators on the operator's page.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import type { TrustPolicy } from '../../token-exchange/instance.js';
import { IdentityLinkRepository, StoredEntryChanges } from '../../token-exchange/instance.js';
import { OPERATOR_ROLES, OWNER_ROLE } from '../../users/role.js';
import type { User } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import type { ChangeWork } from '../operation.js';
import { CommandError } from '../operation.js';

/** Whether the requesting operator is not the owner. Commands need a shell, and may do everything. */
export function isAdministrator(operator: User | undefined): boolean {
  return operator !== undefined && operator.role !== OWNER_ROLE;
}

@Injectable()
export class OwnerProtection {
  constructor(
    private readonly users: UserRepository,
    private readonly links: IdentityLinkRepository,
    private readonly entries: StoredEntryChanges,
  ) {}

  /**
   * On the operator's page, only the owner enables or disables the owner's account, or ends the owner's
   * sessions (D121).
   * @throws CommandError
   */
  async refuseOwner(
    userId: string,
    { transaction, operator }: Pick<ChangeWork, 'transaction' | 'operator'>,
  ): Promise<void> {
    if (!isAdministrator(operator)) return;
    const user = await this.users.findById(userId, transaction);
    if (user?.role === OWNER_ROLE)
      throw new CommandError(
        "Only the owner can enable or disable the owner's account, or end its sessions.",
      );
  }

  /**
   * Refuses trust changes that could let somebody sign in as the owner or an administrator, judged by the
   * current entries and links. Call it in the change's transaction, after the entries were changed, so that
   * it sees the new ones.
   * @param issuer the issuer whose entry or keys are changed
   * @param isAdded whether an entry was added: with its key, the issuer's existing users could be signed in
   * @rule D121 On the operator's page, only the owner changes trust that can sign in the owner or
   * administrators, and adds entries for an issuer that has users or another entry. See `refuseOwner` for the
   * owner's account.
   * @throws CommandError
   */
  async refuseTrustChange(
    issuer: string,
    { transaction, operator }: ChangeWork,
    isAdded = false,
  ): Promise<void> {
    if (!isAdministrator(operator)) return;
    const entries = await this.entries.ofIssuer(issuer, transaction);
    const operatorIds = await this.users.idsOfRoles(OPERATOR_ROLES, transaction);
    const linked = await this.links.linkedTo(transaction, issuer, operatorIds);
    const reaching = await Promise.all(entries.map((entry) => this.reachesOperators(entry, transaction)));
    if (linked.given || reaching.includes(true))
      throw new CommandError('Only the owner can change trust that covers the owner or administrators.');
    if (isAdded && (linked.anyone || entries.length > 1))
      throw new CommandError(
        'Only the owner can add an entry for an issuer that has users or another entry.',
      );
  }

  /** An unreadable entry is treated as one that does. */
  private async reachesOperators(
    policy: TrustPolicy | undefined,
    transaction: Transaction,
  ): Promise<boolean> {
    if (policy?.signInAs !== undefined) {
      const user = await this.users.findById(policy.signInAs, transaction);
      return user === undefined || OPERATOR_ROLES.includes(user.role);
    }
    return policy?.excludeOwner !== true || policy.linkPrivileged !== false;
  }
}

/**
 * Refuses administrators a change of an entry that shares logouts with another one, because it could withhold
 * a provider's logouts from that one. @throws CommandError
 */
export function refuseLogoutChange({ operator }: ChangeWork): void {
  if (isAdministrator(operator))
    throw new CommandError("Only the owner can change an entry that affects another entry's logouts.");
}
