// What the instance is for: projects, workflows, credentials and users, and the API to them.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { KeyRing } from '../sealing/key-ring.js';
import { AccessRights } from './access-rights.js';
import { ApiAuditInterceptor } from './api-audit.interceptor.js';
import { ApiThrottlerGuard } from './api-throttler.guard.js';
import { CredentialSchemas } from './credentials/credential-schemas.js';
import { CredentialController } from './credentials/credential.controller.js';
import { CredentialRepository } from './credentials/credential.repository.js';
import { CredentialService } from './credentials/credential.service.js';
import { PageCursors } from './page-cursor.js';
import { Pages } from './pages.js';
import { ProjectChoice } from './project-choice.js';
import { ProjectMemberController } from './project-member.controller.js';
import { ProjectMemberRepository } from './project-member.repository.js';
import { ProjectRoleRepository } from './project-role.repository.js';
import { ProjectController } from './project.controller.js';
import { ProjectsModule } from './projects.module.js';
import { RightsInterceptor } from './rights.interceptor.js';
import { UserAdministrationService } from './user-administration.service.js';
import { UserController } from './user.controller.js';
import { WorkflowController } from './workflow.controller.js';
import { Workflow, WorkflowRepository } from './workflow.repository.js';
import type { WorkspaceOptions } from './workspace.options.js';
import { WORKSPACE_OPTIONS } from './workspace.options.js';

@Module({})
export class WorkspaceModule {
  static register(options: WorkspaceOptions, keyRing: KeyRing): DynamicModule {
    return {
      module: WorkspaceModule,
      imports: [ProjectsModule, TypeOrmModule.forFeature([Workflow])],
      controllers: [
        UserController,
        ProjectController,
        ProjectMemberController,
        WorkflowController,
        CredentialController,
      ],
      providers: [
        { provide: WORKSPACE_OPTIONS, useValue: options },
        { provide: KeyRing, useValue: keyRing },
        ApiThrottlerGuard,
        ApiAuditInterceptor,
        RightsInterceptor,
        AccessRights,
        PageCursors,
        Pages,
        ProjectChoice,
        ProjectRoleRepository,
        ProjectMemberRepository,
        WorkflowRepository,
        CredentialRepository,
        CredentialSchemas,
        CredentialService,
        UserAdministrationService,
      ],
      exports: [WorkflowRepository],
    };
  }
}
