// Local users, and token exchange's port to them.
import { Module } from '@nestjs/common';
import { UserDirectory } from '../token-exchange/instance.js';
import { InstanceUsers } from './instance-users.js';
import { UserRepository } from './user.repository.js';

@Module({
  providers: [UserRepository, InstanceUsers, { provide: UserDirectory, useExisting: InstanceUsers }],
  exports: [UserRepository, InstanceUsers, UserDirectory],
})
export class UsersModule {}
