// The operator's page: its sign-in, and the API by which it looks and acts.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { OPERATOR_DATABASE } from '../platform/database/database.module.js';
import type { Database } from '../platform/database/database.js';
import { Clock } from '../platform/clock.js';
import { purging } from '../platform/jobs/purge.job.js';
import { OperatorAccountRepository } from '../administration/accounts/operator-account.repository.js';
import { OperatorSessionRepository } from '../administration/accounts/operator-session.repository.js';
import { PasswordHasher } from '../administration/accounts/password-hasher.js';
import { UserProfileRepository } from '../administration/accounts/user-profile.repository.js';
import { SignInFailureRepository } from '../administration/accounts/sign-in-failure.repository.js';
import { EmbeddedSessionRepository } from './api/embedded-session.repository.js';
import { OperatorEntryController } from './api/entry.controller.js';
import { KeySetRefresh } from './api/key-set-refresh.js';
import { OperatorCalls } from './api/operator-calls.js';
import type { InstanceState } from './api/overview.js';
import { OverviewReader } from './api/overview.js';
import { OperatorPersonController } from './api/person.controller.js';
import { OperatorTrailController } from './api/trail.controller.js';
import { TrailOperations } from './api/trail.operation.js';
import type { OperatorOptions } from './sign-in/operator.guard.js';
import { OPERATOR_OPTIONS, OperatorGuard, OwnPageGuard } from './sign-in/operator.guard.js';
import { OperatorSessionController } from './sign-in/operator-session.controller.js';
import { OPERATOR_PURGE, OperatorSessionService } from './sign-in/operator-session.service.js';
import { OperatorSignInService } from './sign-in/operator-sign-in.service.js';

@Module({})
export class OperatorModule {
  /**
   * Registered only where the page is on: otherwise there is nothing of it.
   * @param state what the instance knows of itself
   * @param imports modules that offer clock, log, database, leader, audit bus and trail, throttles, sessions, users and
   *   administration, and the keys of token exchange where that is on
   */
  static register(
    options: OperatorOptions,
    state: InstanceState,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    return {
      module: OperatorModule,
      imports,
      controllers: [
        OperatorSessionController,
        OperatorEntryController,
        OperatorPersonController,
        OperatorTrailController,
      ],
      providers: [
        { provide: OPERATOR_OPTIONS, useValue: options },
        { provide: PasswordHasher, useFactory: () => new PasswordHasher(options.onHash) },
        OperatorAccountRepository,
        OperatorSessionRepository,
        SignInFailureRepository,
        UserProfileRepository,
        OperatorSessionService,
        OperatorSignInService,
        purging(OPERATOR_PURGE),
        OperatorCalls,
        EmbeddedSessionRepository,
        KeySetRefresh,
        TrailOperations,
        {
          provide: OverviewReader,
          inject: [OPERATOR_DATABASE, Clock],
          useFactory: (database: Database, clock: Clock) => new OverviewReader(state, database, clock),
        },
        OwnPageGuard,
        OperatorGuard,
      ],
    };
  }
}
