// Projects, apart from the rest of the workspace because users need them.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { PersonalProjects } from '../../users/user.service.js';
import { ProjectRepository } from './project.repository.js';

@Module({})
export class ProjectsModule {
  /** @param imports a module that offers the database */
  static register(imports: ModuleMetadata['imports']): DynamicModule {
    return {
      module: ProjectsModule,
      imports,
      providers: [ProjectRepository, { provide: PersonalProjects, useExisting: ProjectRepository }],
      exports: [ProjectRepository, PersonalProjects],
    };
  }
}
