// Creates users, and changes their role and state on behalf of another user, with an audit event.
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/authentication.service.js';
import type { ChangeOfUser } from '../../audit/user-changed.js';
import { userChanged } from '../../audit/user-changed.js';
import { Clock } from '../../platform/clock.js';
import { AuditBus } from '../../token-exchange/instance.js';
import { OWNER_ROLE } from '../../users/role.js';
import type { NewUser, User, UserChange } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { AccessRights } from '../rights/access-rights.js';

type UserAdministrationChange = Pick<UserChange, 'role' | 'enabled'>;

interface AskingUser {
  readonly principal: Principal;
  readonly requestId: string;
}

@Injectable()
export class UserAdministrationService {
  constructor(
    private readonly users: UserRepository,
    private readonly rights: AccessRights,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiRefusal `email_taken` */
  create(asking: AskingUser, newUser: NewUser): Promise<User> {
    return this.audit.commit(async (transaction) => {
      const to = await this.users.create(transaction, newUser);
      if (to === undefined) throw new ApiRefusal('email_taken');
      return { result: to, events: [this.changedEvent(asking, { id: to.id, to })] };
    });
  }

  /**
   * Locks all users involved, and checks the acting users again under the lock. If two administrators disable or
   * demote each other at once, only the first change succeeds.
   * @throws ApiRefusal `invalid_token`, `forbidden`, `not_found`, `owner_protected`, `own_account`
   */
  change(asking: AskingUser, userId: string, change: UserAdministrationChange): Promise<User> {
    const actingUserIds = asking.principal.rightsOf.map(({ id }) => id);
    return this.audit.commit(async (transaction) => {
      const locked = await this.users.lockAll([...actingUserIds, userId], transaction);
      const byId = new Map(locked.map((user) => [user.id, user]));
      this.refuseUnentitled(
        actingUserIds.map((id) => byId.get(id)),
        userId,
      );
      const from = changeable(byId.get(userId), actingUserIds);
      await this.users.update(userId, change, transaction);
      const to = await this.users.findById(userId, transaction);
      if (to === undefined) throw new Error('a locked user was deleted');
      return { result: to, events: [this.changedEvent(asking, { id: userId, from, to })] };
    });
  }

  private refuseUnentitled(actingUsers: readonly (User | undefined)[], userId: string): void {
    const enabled = actingUsers.filter((user) => user?.enabled === true) as User[];
    if (enabled.length < actingUsers.length) throw new ApiRefusal('invalid_token');
    this.rights.requireOnUser({ rightsOf: enabled }, 'user:write', userId);
  }

  private changedEvent({ principal, requestId }: AskingUser, change: ChangeOfUser) {
    const context = { occurredAt: this.clock.now(), requestId, actorUserId: principal.user.id };
    return userChanged(context, change);
  }
}

function changeable(target: User | undefined, actingUserIds: readonly string[]): User {
  if (target === undefined) throw new ApiRefusal('not_found');
  if (target.role === OWNER_ROLE) throw new ApiRefusal('owner_protected');
  if (actingUserIds.includes(target.id)) throw new ApiRefusal('own_account');
  return target;
}
