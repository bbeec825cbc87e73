// The operator's page: its sign-in, and the API that it uses.
import { join } from 'node:path';
import { Controller, Inject, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { SignInFailureRepository } from '../administration/accounts/operator-account.repository.js';
import { PasswordHasher } from '../administration/accounts/passwords.js';
import { AdministrationModule } from '../administration/administration.module.js';
import { AuditJobsModule } from '../audit/audit-jobs.module.js';
import { Metrics } from '../metrics/metrics.js';
import { PageController, SOURCE_DIRECTORY } from '../platform/http/page.controller.js';
import { purging } from '../platform/jobs/purge.job.js';
import { UsersModule } from '../users/users.module.js';
import { OverviewReader } from './api/overview.js';
import { OperatorEntryController } from './entries/entry.controller.js';
import { EntryCheck } from './entries/entry-check.js';
import { OperatorPartnerController } from './partners/partner.controller.js';
import { PartnerOperations } from './partners/partner.operations.js';
import { OperatorGuard, OwnPageGuard } from './sign-in/operator.guard.js';
import { OperatorSessionController } from './sign-in/operator-session.controller.js';
import { OPERATOR_PURGE, OperatorSessionService } from './sign-in/operator-session.service.js';
import { OperatorSignInService } from './sign-in/operator-sign-in.service.js';
import { OperatorTrailController } from './trail/trail.controller.js';
import { TrailOperations } from './trail/trail.operation.js';
import { EmbeddedSessionRepository } from './users/embedded-session.repository.js';
import { OperatorPersonController } from './users/person.controller.js';
import { PersonOperations } from './users/person.operations.js';

/**
 * @rule D113 The operator's page is one document, whose URLs name no person. See pages/operator/session.ts for what
 * outlives a sign-in. The document contains no data; it reads everything from the operator's API.
 */
@Controller('admin')
export class OperatorPageController extends PageController {
  constructor(@Inject(SOURCE_DIRECTORY) sourceDirectory: string) {
    super(join(sourceDirectory, 'operator', 'page', 'public'));
  }
}

@Module({
  imports: [AccessModule, AdministrationModule, AuditJobsModule, UsersModule],
  controllers: [
    OperatorSessionController,
    OperatorEntryController,
    OperatorPartnerController,
    OperatorPersonController,
    OperatorTrailController,
    OperatorPageController,
  ],
  providers: [
    {
      provide: PasswordHasher,
      inject: [Metrics],
      useFactory: (metrics: Metrics) => new PasswordHasher(() => metrics.operatorPasswordHashes.inc()),
    },
    SignInFailureRepository,
    OperatorSessionService,
    OperatorSignInService,
    purging(OPERATOR_PURGE),
    EmbeddedSessionRepository,
    EntryCheck,
    PartnerOperations,
    PersonOperations,
    TrailOperations,
    OverviewReader,
    OwnPageGuard,
    OperatorGuard,
  ],
})
export class OperatorModule {}
