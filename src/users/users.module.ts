// Local users.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { UserRepository } from './user.repository.js';
import { UserService } from './user.service.js';

@Module({})
export class UsersModule {
  /** @param imports modules that offer the database and PersonalProjects */
  static register(imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: UsersModule,
      imports,
      providers: [UserRepository, UserService],
      exports: [UserRepository, UserService],
    };
  }
}
