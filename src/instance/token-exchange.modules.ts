// Token exchange as this instance registers it.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import type { Startup } from '../config/startup.js';
import { AccessTokenService, Revocations, SessionService } from '../token-exchange/instance.js';
import { TokenExchangeModule } from '../token-exchange/index.js';
import { Clock } from '../platform/clock.js';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import { CountingStorage } from '../platform/http/throttle/counting.storage.js';
import { Leader } from '../platform/jobs/leader.js';
import { Notifications } from '../platform/jobs/notifications.js';
import { LOGGER } from '../platform/log/log.js';
import { InstanceUsers } from '../users/instance-users.js';
import { UsersModule } from '../users/users.module.js';
import { WebModule } from '../web/web.module.js';
import { InstanceLoginFailurePage } from './instance-login-failure-page.js';
import { InstanceProjects } from './instance-projects.js';
import { InstanceTelemetry } from './instance-telemetry.js';
import { isTokenExchangeOffered, tokenExchangeSettings } from './token-exchange-settings.js';

/** How this instance implements the ports, beside that of users. */
const PORTS = [InstanceProjects, InstanceTelemetry, InstanceLoginFailurePage];

@Module({ imports: [WebModule], providers: PORTS, exports: PORTS })
class PortsModule {}

/**
 * None where flag or licence leaves it out. Global, since what shows the state of token exchange does so with it and without. Sessions
 * and access tokens go on while it is off: so they are those of AccessModule, and given to it.
 */
export function tokenExchange({
  startup,
  clock,
}: {
  readonly startup: Startup;
  readonly clock: Clock;
}): DynamicModule[] {
  if (!isTokenExchangeOffered(startup, clock)) return [];
  const module = TokenExchangeModule.register(tokenExchangeSettings(startup, clock), {
    imports: [AccessModule, UsersModule, PortsModule],
    users: { useExisting: InstanceUsers },
    projects: { useExisting: InstanceProjects },
    sessions: { useExisting: SessionService },
    auditTrail: { useExisting: AuditTrailRepository },
    telemetry: { useExisting: InstanceTelemetry },
    loginFailurePage: { useExisting: InstanceLoginFailurePage },
    throttlerStorage: { useExisting: CountingStorage },
    imported: [Clock, LOGGER, Leader, Notifications, DatabaseOutages, Revocations, AccessTokenService],
  });
  return [{ ...module, global: true }];
}
