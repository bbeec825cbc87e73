// The port to users, on the product's own table.
import type { HostUser, HostUserUpdate, NewHostUser, Transaction } from '@embedded-token-exchange/nestjs';
import { managerOf, UserDirectory } from '@embedded-token-exchange/nestjs';
import { Injectable } from '@nestjs/common';
import { emailKey, User } from './user.entity.js';

@Injectable()
export class ProductUsers extends UserDirectory {
  async findById(transaction: Transaction, id: string): Promise<HostUser | undefined> {
    return hostUser(await managerOf(transaction).findOneBy(User, { id }));
  }

  async findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined> {
    return hostUser(await managerOf(transaction).findOneBy(User, { email: emailKey(email) }));
  }

  /** Two first logins of one person may arrive at the same time. The second one inserts nothing and gets undefined. */
  async create(transaction: Transaction, user: NewHostUser): Promise<HostUser | undefined> {
    const row = { ...user, email: emailKey(user.email), active: true };
    const insertion = managerOf(transaction).createQueryBuilder().insert().into(User).values(row);
    const { identifiers } = await insertion.orIgnore().execute();
    const [made] = identifiers as (Pick<User, 'id'> | undefined)[];
    return made && hostUser({ ...row, ...made });
  }

  async lock(transaction: Transaction, id: string): Promise<HostUser | undefined> {
    const options = { where: { id }, lock: { mode: 'pessimistic_write' } } as const;
    return hostUser(await managerOf(transaction).findOne(User, options));
  }

  async update(transaction: Transaction, id: string, update: HostUserUpdate): Promise<void> {
    await managerOf(transaction).update(User, { id }, update);
  }
}

function hostUser(user: User | null): HostUser | undefined {
  if (user === null) return undefined;
  const { id, role, active, givenName, familyName } = user;
  return { id, role, enabled: active, givenName, familyName };
}
