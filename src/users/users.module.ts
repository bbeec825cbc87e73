// Local users.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { repositoriesOf } from '../platform/database/database.module.js';
import { User, UserRepository } from './user.repository.js';
import { UserService } from './user.service.js';

@Module({})
export class UsersModule {
  /** @param imports modules that offer the database and PersonalProjects */
  static register(imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: UsersModule,
      imports: [...imports, repositoriesOf([User], imports)],
      providers: [UserRepository, UserService],
      exports: [UserRepository, UserService],
    };
  }
}
