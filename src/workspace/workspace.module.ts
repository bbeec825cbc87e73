// Projects, workflows, credentials and users, and the API to them.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { KeyRing } from '../platform/secrets/key-ring.js';
import { ApiAuditInterceptor } from './operations/api-audit.interceptor.js';
import { AuditEventController } from './audit-events/audit-event.controller.js';
import { CredentialSchemas } from './credentials/credential-schemas.js';
import { CredentialController } from './credentials/credential.controller.js';
import { CredentialRepository } from './credentials/credential.repository.js';
import { CredentialService } from './credentials/credential.service.js';
import { ProjectMemberController } from './projects/project-member.controller.js';
import { ProjectMemberRepository } from './projects/project-member.repository.js';
import { ProjectController } from './projects/project.controller.js';
import type { QuotaLimits } from './quotas/quota.repository.js';
import { QuotaRepository } from './quotas/quota.repository.js';
import { Quotas } from './quotas/quotas.js';
import { AccessRights } from './rights/access-rights.js';
import { ProjectChoice } from './projects/project-choice.js';
import { ProjectRoleRepository } from './rights/project-role.repository.js';
import { RightsInterceptor } from './operations/rights.interceptor.js';
import { refuseOpenRoutes } from './operations/route-rights.js';
import { UserAdministrationService } from './users/user-administration.service.js';
import { UserController } from './users/user.controller.js';
import { WorkflowController, WorkflowCountController } from './workflows/workflow.controller.js';
import { WorkflowRepository } from './workflows/workflow.repository.js';
import type { ApiOptions } from './api/api-refusal.js';
import { API_OPTIONS } from './api/api-refusal.js';

const CONTROLLERS = [
  UserController,
  ProjectController,
  ProjectMemberController,
  WorkflowController,
  WorkflowCountController,
  CredentialController,
  AuditEventController,
];

@Module({})
export class WorkspaceModule {
  /**
   * @param imports modules that offer clock, database, audit bus and trail, users, projects, throttles, and who is signed in
   * @throws Error where a route of the API would be open by an oversight
   */
  static register(
    { limits, ...options }: ApiOptions & { readonly limits: QuotaLimits },
    keyRing: KeyRing,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    refuseOpenRoutes(CONTROLLERS);
    return {
      module: WorkspaceModule,
      imports,
      controllers: CONTROLLERS,
      providers: [
        { provide: API_OPTIONS, useValue: options },
        { provide: KeyRing, useValue: keyRing },
        ApiAuditInterceptor,
        RightsInterceptor,
        AccessRights,
        ProjectChoice,
        QuotaRepository,
        {
          provide: Quotas,
          useFactory: (repository: QuotaRepository) => new Quotas(repository, limits),
          inject: [QuotaRepository],
        },
        ProjectRoleRepository,
        ProjectMemberRepository,
        WorkflowRepository,
        CredentialRepository,
        CredentialSchemas,
        CredentialService,
        UserAdministrationService,
      ],
    };
  }
}
