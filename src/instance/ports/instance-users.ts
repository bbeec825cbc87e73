// The port to users, on this instance's accounts.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import type { UserLock } from '../../token-exchange/instance.js';
import { UserDirectory } from '../../token-exchange/instance.js';
import type { HostUser, HostUserUpdate, NewHostUser } from '../../token-exchange/index.js';
import type { GlobalRole } from '../../users/role.js';
import { isGlobalRole } from '../../users/role.js';
import { UserRepository } from '../../users/user.repository.js';
import { UserService } from '../../users/user.service.js';

@Injectable()
export class InstanceUsers extends UserDirectory {
  constructor(
    private readonly repository: UserRepository,
    private readonly users: UserService,
  ) {
    super();
  }

  findById(transaction: Transaction, id: string): Promise<HostUser | undefined> {
    return this.repository.findById(id, transaction);
  }

  findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined> {
    return this.repository.findByEmail(email, transaction);
  }

  create(transaction: Transaction, user: NewHostUser): Promise<HostUser | undefined> {
    return this.users.create(transaction, { ...user, role: globalRole(user.role) });
  }

  lock(transaction: Transaction, id: string, lock: UserLock): Promise<HostUser | undefined> {
    return lock === 'share'
      ? this.repository.lockShared(id, transaction)
      : this.repository.lock(id, transaction);
  }

  override endAccess(transaction: Transaction, id: string): Promise<void> {
    return this.repository.endAccess(transaction, id);
  }

  update(transaction: Transaction, id: string, { role, ...names }: HostUserUpdate): Promise<void> {
    const change = role === undefined ? names : { ...names, role: globalRole(role) };
    return this.repository.update(id, change, transaction);
  }
}

/** The module assigns only roles that it was registered with, so another one is a fault of the service. */
function globalRole(role: string): GlobalRole {
  if (isGlobalRole(role)) return role;
  throw new Error('a role that this instance does not have was to be assigned');
}
