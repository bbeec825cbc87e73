// Makes users, whole: with their personal project, in one transaction.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/transaction.js';
import type { NewUser, User } from './user.repository.js';
import { UserRepository } from './user.repository.js';

/** Makes the project that belongs to one user alone; the workspace implements it. */
export abstract class PersonalProjects {
  abstract create(transaction: Transaction, userId: string): Promise<void>;
}

@Injectable()
export class UserService {
  constructor(
    private readonly users: UserRepository,
    private readonly personalProjects: PersonalProjects,
  ) {}

  /**
   * @rule D47 A user has a personal project from the moment of its creation.
   * Every new user comes from here: see architecture.md for the callers, the first migration for the index that allows one owner.
   * @rule 2.5.2 A user made here has password login disabled.
   * @returns undefined when the e-mail address is taken
   */
  async create(transaction: Transaction, newUser: NewUser): Promise<User | undefined> {
    const user = await this.users.insert(transaction, newUser);
    if (user !== undefined) await this.personalProjects.create(transaction, user.id);
    return user;
  }
}
