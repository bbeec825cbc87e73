// Changes role and state of users on behalf of another one, whose rights are checked as they are at that moment.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { Transactions } from '../../platform/database/transaction.js';
import { OWNER_ROLE } from '../../users/role.js';
import type { User, UserChange } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { AccessRights } from '../rights/access-rights.js';

export type UserAdministrationChange = Pick<UserChange, 'role' | 'enabled'>;

@Injectable()
export class UserAdministrationService {
  constructor(
    private readonly users: UserRepository,
    private readonly rights: AccessRights,
    private readonly transactions: Transactions,
  ) {}

  /**
   * All of them are locked, and those who act are checked again under the lock. Of two administrators who disable or demote each
   * other at once, the second is refused as if it had come later. So one of them stays.
   * @throws ApiRefusal `invalid_token`, `forbidden`, `not_found`, `owner_protected`, `own_account`
   */
  change(actingUserIds: readonly string[], userId: string, change: UserAdministrationChange): Promise<User> {
    return this.transactions.run(async (transaction) => {
      const locked = await this.users.lockAll([...actingUserIds, userId], transaction);
      const byId = new Map(locked.map((user) => [user.id, user]));
      this.refuseUnentitled(
        actingUserIds.map((id) => byId.get(id)),
        userId,
      );
      refuseProtected(byId.get(userId), actingUserIds);
      await this.users.update(userId, change, transaction);
      return this.changed(userId, transaction);
    });
  }

  private refuseUnentitled(actingUsers: readonly (User | undefined)[], userId: string): void {
    const enabled = actingUsers.filter((user) => user?.enabled === true) as User[];
    if (enabled.length < actingUsers.length) throw new ApiRefusal('invalid_token');
    this.rights.requireOnUser({ rightsOf: enabled }, 'user:write', userId);
  }

  private async changed(userId: string, transaction: Transaction): Promise<User> {
    const user = await this.users.findById(userId, transaction);
    if (user === undefined) throw new Error('a locked user was deleted');
    return user;
  }
}

function refuseProtected(target: User | undefined, actingUserIds: readonly string[]): void {
  if (target === undefined) throw new ApiRefusal('not_found');
  if (target.role === OWNER_ROLE) throw new ApiRefusal('owner_protected');
  if (actingUserIds.includes(target.id)) throw new ApiRefusal('own_account');
}
