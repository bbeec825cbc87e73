// The instance's sessions and access tokens, and authentication with them.
import { Module } from '@nestjs/common';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Metrics } from '../metrics/metrics.js';
import { MemoryCounts } from '../platform/http/throttle/rate-limit.js';
import type { AccessTokenOptions, SessionSettings } from '../token-exchange/instance.js';
import {
  ACCESS_TOKEN_OPTIONS,
  ACCESS_TOKEN_PROVIDERS,
  REVOCATION_PROVIDERS,
  SESSION_COOKIE,
  SESSION_OPTIONS,
  SESSION_PROVIDERS,
} from '../token-exchange/instance.js';
import { UsersModule } from '../users/users.module.js';
import { AuthenticationGuard } from './authentication.guard.js';
import { AuthenticationService } from './authentication.service.js';
import { BearerRefusalRecorder } from './bearer-refusal.recorder.js';
import { SessionController } from './session.controller.js';

const AUTHENTICATION = [AuthenticationService, AuthenticationGuard, BearerRefusalRecorder];

/**
 * Sessions and tokens remain valid while token exchange is off, so they are provided here and passed to it.
 */
@Module({
  imports: [UsersModule],
  controllers: [SessionController],
  providers: [
    ...REVOCATION_PROVIDERS,
    ...SESSION_PROVIDERS,
    ...ACCESS_TOKEN_PROVIDERS,
    ...AUTHENTICATION,
    MemoryCounts,
    { provide: SESSION_OPTIONS, inject: [STARTUP], useFactory: sessionSettings },
    { provide: ACCESS_TOKEN_OPTIONS, inject: [STARTUP, Metrics], useFactory: accessTokenOptions },
  ],
  exports: [...REVOCATION_PROVIDERS, ...SESSION_PROVIDERS, ...ACCESS_TOKEN_PROVIDERS, ...AUTHENTICATION],
})
export class AccessModule {}

function sessionSettings({ config }: Startup): SessionSettings {
  return {
    cookieName: SESSION_COOKIE,
    lifetimeSeconds: config.sessionLifetimeSeconds,
    maxPerUser: config.maxSessionsPerUser,
    partitioned: config.partitionedCookie,
  };
}

function accessTokenOptions({ config }: Startup, metrics: Metrics): AccessTokenOptions {
  return {
    issuer: config.baseUrl,
    dpopNonce: config.dpopNonce,
    onProofForgotten: () => metrics.proofsForgotten.inc(),
  };
}
