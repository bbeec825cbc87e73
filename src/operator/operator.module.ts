// The operator's page: its sign-in, and the API by which it looks and acts.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { OperatorAccountRepository } from './accounts/operator-account.repository.js';
import { OperatorSessionRepository } from './accounts/operator-session.repository.js';
import { PasswordHasher } from './accounts/password-hasher.js';
import { SignInFailureRepository } from './accounts/sign-in-failure.repository.js';
import type { OperatorOptions } from './operator.options.js';
import { OPERATOR_OPTIONS } from './operator.options.js';
import { OperatorPurgeJob } from './sign-in/operator-purge.job.js';
import { OperatorSessionController } from './sign-in/operator-session.controller.js';
import { OperatorSessionService } from './sign-in/operator-session.service.js';
import { OperatorSignInService } from './sign-in/operator-sign-in.service.js';
import { OperatorSignInThrottlerGuard, OperatorThrottlerGuard } from './sign-in/operator-throttler.guard.js';
import { OperatorGuard, OwnPageGuard } from './sign-in/operator.guard.js';

@Module({})
export class OperatorModule {
  /**
   * Registered only where the page is on: otherwise there is nothing of it.
   * @param imports modules that offer clock, log, database, leader, audit bus and trail, throttles, sessions and administration
   */
  static register(options: OperatorOptions, imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: OperatorModule,
      imports,
      controllers: [OperatorSessionController],
      providers: [
        { provide: OPERATOR_OPTIONS, useValue: options },
        { provide: PasswordHasher, useFactory: () => new PasswordHasher(options.onHash) },
        OperatorAccountRepository,
        OperatorSessionRepository,
        SignInFailureRepository,
        OperatorSessionService,
        OperatorSignInService,
        OperatorPurgeJob,
        OwnPageGuard,
        OperatorGuard,
        OperatorSignInThrottlerGuard,
        OperatorThrottlerGuard,
      ],
    };
  }
}
