// Token exchange as this instance registers it.
import type { DynamicModule } from '@nestjs/common';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import { InstanceLoginFailurePage } from '../instance/ports/instance-login-failure-page.js';
import { InstanceProjects } from '../instance/ports/instance-projects.js';
import { InstanceTelemetry } from '../instance/ports/instance-telemetry.js';
import { InstanceUsers } from '../instance/ports/instance-users.js';
import { isTokenExchangeOffered, tokenExchangeSettings } from '../instance/token-exchange-settings.js';
import { AccessTokenService, Revocations, SessionService } from '../token-exchange/instance.js';
import { TokenExchangeModule } from '../token-exchange/index.js';
import { Clock } from '../platform/clock.js';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import { CountingStorage } from '../platform/http/throttle/counting.storage.js';
import { Leader } from '../platform/jobs/leader.js';
import { Notifications } from '../platform/jobs/notifications.js';
import { LOGGER } from '../platform/log/log.js';
import type { Parts, SharedModules } from './shared.modules.js';
import { offering } from './shared.modules.js';

/** How this instance implements the ports. Sessions and access tokens are those of token-exchange/ itself: see access.module.ts. */
const PORTS = [InstanceUsers, InstanceProjects, InstanceTelemetry, InstanceLoginFailurePage];

/** None where flag or licence leaves it out. */
export function tokenExchange(
  { startup, clock }: Parts,
  { database, users, metrics, web, ...modules }: SharedModules,
): DynamicModule[] {
  if (!isTokenExchangeOffered(startup, clock)) return [];
  const module = TokenExchangeModule.register(tokenExchangeSettings(startup, clock), {
    imports: [
      modules.clock,
      modules.logging,
      database,
      modules.coordination,
      modules.audit,
      modules.access,
      modules.throttle,
      modules.outages,
      offering(class HostModule {}, PORTS, [database, users, metrics, web]),
    ],
    users: { useExisting: InstanceUsers },
    projects: { useExisting: InstanceProjects },
    sessions: { useExisting: SessionService },
    auditTrail: { useExisting: AuditTrailRepository },
    telemetry: { useExisting: InstanceTelemetry },
    loginFailurePage: { useExisting: InstanceLoginFailurePage },
    throttlerStorage: { useExisting: CountingStorage },
    imported: [Clock, LOGGER, Leader, Notifications, DatabaseOutages, Revocations, AccessTokenService],
  });
  return [module];
}
