// Projects, apart from the rest of the workspace because users need them.
import { Module } from '@nestjs/common';
import { PersonalProjects } from '../../users/personal-projects.js';
import { ProjectRepository } from './project.repository.js';

@Module({
  providers: [ProjectRepository, { provide: PersonalProjects, useExisting: ProjectRepository }],
  exports: [ProjectRepository, PersonalProjects],
})
export class ProjectsModule {}
