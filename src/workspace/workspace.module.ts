// Projects, workflows, credentials and users, and their API.
import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuditEventController } from './audit-events/audit-event.controller.js';
import { CredentialController } from './credentials/credential.controller.js';
import { CredentialRepository } from './credentials/credential.repository.js';
import { CredentialService } from './credentials/credential.service.js';
import { CredentialSchemas } from './credentials/credential-types.js';
import {
  ApiAuditInterceptor,
  refuseOpenRoutes,
  RightsInterceptor,
} from './operations/api-controller.decorator.js';
import { ProjectController, ProjectMemberController } from './projects/project.controller.js';
import { ProjectMemberRepository, ProjectRepository } from './projects/project.repository.js';
import { Quotas } from './quotas/quotas.js';
import { AccessRights, ProjectChoice } from './rights/access-rights.js';
import { ProjectRoleRepository } from './rights/project-role.repository.js';
import { UserController } from './users/user.controller.js';
import { UserAdministrationService } from './users/user-administration.service.js';
import { WorkflowController, WorkflowCountController } from './workflows/workflow.controller.js';
import { WorkflowRepository } from './workflows/workflow.repository.js';

const CONTROLLERS = [
  UserController,
  ProjectController,
  ProjectMemberController,
  WorkflowController,
  WorkflowCountController,
  CredentialController,
  AuditEventController,
];

@Module({
  imports: [AccessModule, UsersModule],
  controllers: CONTROLLERS,
  providers: [
    ApiAuditInterceptor,
    RightsInterceptor,
    AccessRights,
    ProjectChoice,
    Quotas,
    ProjectRoleRepository,
    ProjectRepository,
    ProjectMemberRepository,
    WorkflowRepository,
    CredentialRepository,
    CredentialSchemas,
    CredentialService,
    UserAdministrationService,
  ],
})
export class WorkspaceModule {
  /** @throws Error if an API route has no access check */
  constructor() {
    refuseOpenRoutes(CONTROLLERS);
  }
}
