// Local users.
import type { DynamicModule, Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { User, UserRepository } from './user.repository.js';
import { UserService } from './user.service.js';

@Module({})
export class UsersModule {
  /** @param projects the module that provides PersonalProjects */
  static register(projects: Type): DynamicModule {
    return {
      module: UsersModule,
      global: true,
      imports: [projects, TypeOrmModule.forFeature([User])],
      providers: [UserRepository, UserService],
      exports: [UserRepository, UserService],
    };
  }
}
