// Local users, and token exchange's port to them.
import type { Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { UserDirectory } from '../token-exchange/instance.js';
import { InstanceUsers } from './instance-users.js';
import { UserRepository } from './user.repository.js';

/** They also need the providers of the users' ports. */
export const USER_PROVIDERS: Provider[] = [
  UserRepository,
  InstanceUsers,
  { provide: UserDirectory, useExisting: InstanceUsers },
];

@Module({ providers: USER_PROVIDERS, exports: USER_PROVIDERS })
export class UsersModule {}
