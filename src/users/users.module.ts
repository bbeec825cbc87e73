// Local users, and token exchange's port to them.
import type { Provider } from '@nestjs/common';
import { Injectable, Module } from '@nestjs/common';
import type { Transaction } from '../platform/database/transaction.js';
import type { HostUser, HostUserUpdate, NewHostUser } from '../token-exchange/index.js';
import type { UserCreation, UserLock } from '../token-exchange/instance.js';
import { UserDirectory } from '../token-exchange/instance.js';
import type { GlobalRole } from './role.js';
import { isGlobalRole } from './role.js';
import { UserRepository } from './user.repository.js';

@Injectable()
export class InstanceUsers extends UserDirectory {
  override readonly creation: UserCreation;

  constructor(private readonly users: UserRepository) {
    super();
    const { creation } = users;
    this.creation = {
      ...creation,
      planned: (user) => creation.planned({ ...user, role: globalRole(user.role) }),
    };
  }

  findById(transaction: Transaction, id: string): Promise<HostUser | undefined> {
    return this.users.findById(id, transaction);
  }

  findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined> {
    return this.users.findByEmail(email, transaction);
  }

  create(transaction: Transaction, user: NewHostUser): Promise<HostUser | undefined> {
    return this.users.create(transaction, { ...user, role: globalRole(user.role) });
  }

  lock(transaction: Transaction, id: string, lock: UserLock): Promise<HostUser | undefined> {
    return lock === 'share' ? this.users.lockShared(id, transaction) : this.users.lock(id, transaction);
  }

  override endAccess(transaction: Transaction, id: string): Promise<void> {
    return this.users.endAccess(transaction, id);
  }

  override disable(transaction: Transaction, id: string, issuer: string): Promise<boolean> {
    return this.users.disableFor(issuer, id, transaction);
  }

  override enable(transaction: Transaction, id: string, issuer: string): Promise<boolean> {
    return this.users.enableFor(issuer, id, transaction);
  }

  update(transaction: Transaction, id: string, { role, ...names }: HostUserUpdate): Promise<void> {
    const change = role === undefined ? names : { ...names, role: globalRole(role) };
    return this.users.update(id, change, transaction);
  }
}

/** The module assigns only registered roles, so any other role is a bug. */
function globalRole(role: string): GlobalRole {
  if (isGlobalRole(role)) return role;
  throw new Error('a role that this instance does not have was to be assigned');
}

/** They also need the providers of the users' ports. */
export const USER_PROVIDERS: Provider[] = [
  UserRepository,
  InstanceUsers,
  { provide: UserDirectory, useExisting: InstanceUsers },
];

@Module({ providers: USER_PROVIDERS, exports: USER_PROVIDERS })
export class UsersModule {}
