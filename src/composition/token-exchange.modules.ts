// Token exchange as this instance registers it.
import type { DynamicModule } from '@nestjs/common';
import { getStorageToken } from '@nestjs/throttler';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import { HostModule } from '../instance/ports/host.module.js';
import { InstanceLoginFailurePage } from '../instance/ports/instance-login-failure-page.js';
import { InstanceProjects } from '../instance/ports/instance-projects.js';
import { InstanceTelemetry } from '../instance/ports/instance-telemetry.js';
import { InstanceUsers } from '../instance/ports/instance-users.js';
import { isTokenExchangeAvailable, tokenExchangeSettings } from '../instance/token-exchange-settings.js';
import { AccessTokenService, SessionService } from '../token-exchange/instance.js';
import { TokenExchangeModule } from '../token-exchange/index.js';
import type { Parts, SharedModules } from './shared.modules.js';

/** None where flag or licence leaves it out. */
export function tokenExchange(
  { startup, clock: time, logger, coordination }: Parts,
  { database, audit, metrics, outages, throttle, users, access, web }: SharedModules,
): DynamicModule[] {
  if (!isTokenExchangeAvailable(startup, time)) return [];
  const module = TokenExchangeModule.register(tokenExchangeSettings(startup, time), {
    imports: [
      database,
      audit,
      access,
      throttle,
      outages,
      HostModule.register([database, users, metrics, web]),
    ],
    users: { useExisting: InstanceUsers },
    projects: { useExisting: InstanceProjects },
    sessions: { useExisting: SessionService },
    accessTokens: { useExisting: AccessTokenService },
    revocations: 'imported',
    auditTrail: { useExisting: AuditTrailRepository },
    telemetry: { useExisting: InstanceTelemetry },
    outages: 'imported',
    loginFailurePage: { useExisting: InstanceLoginFailurePage },
    throttlerStorage: { useExisting: getStorageToken() },
    clock: { useValue: time },
    log: { useValue: logger },
    leader: { useValue: coordination.leader },
    notifications: { useValue: coordination.notifications },
  });
  return [module];
}
