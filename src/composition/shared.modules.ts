// The modules that several others import.
import { SESSION_COOKIE } from '../token-exchange/instance.js';
import { join } from 'node:path';
import { AccessModule } from '../access/access.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { CoordinationModule } from '../platform/jobs/coordination.module.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { InstanceUsers } from '../instance/ports/instance-users.js';
import { OutagesModule } from '../platform/http/outages.module.js';
import { ThrottleModule } from '../platform/http/throttle/throttle.module.js';
import { LoggingModule } from '../platform/log/logging.module.js';
import type { Metrics } from '../metrics/metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { ClockModule } from '../instance/clock.module.js';
import { metricsAddress } from '../instance/startup.js';
import type { BearerReason } from '../token-exchange/plain.js';
import type { RefusedWork } from '../platform/http/database-outages.js';
import { UsersModule } from '../users/users.module.js';
import { WebModule } from '../web/web.module.js';
import { ProjectsModule } from '../workspace/projects/projects.module.js';
import { SCOPES } from '../workspace/rights/rights.js';
import { tokenEndpointOf } from './routes.js';
import type { Logger } from 'pino';
import type { Coordination } from '../platform/jobs/coordination.module.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import type { GracefulShutdown } from '../platform/http/graceful-shutdown.js';
import type { FrameAncestors } from '../instance/frame-ancestors.js';
import type { Startup } from '../instance/startup.js';
import type { Clock } from '../platform/clock.js';
import type { KeyRing } from '../platform/secrets/key-ring.js';

/** The parts of the application. */
export interface Parts {
  readonly startup: Startup;
  readonly database: OpenDatabase;
  /** Of the embedded database; undefined on PostgreSQL. */
  readonly dataDirectory?: string;
  readonly coordination: Coordination;
  readonly keyRing: KeyRing;
  readonly frameAncestors: FrameAncestors;
  readonly shutdown: GracefulShutdown;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder of the compiled sources, beside which the page's files lie. */
  readonly sourceDirectory: string;
}

export type SharedModules = ReturnType<typeof sharedModules>;

/** What several modules import. Each is registered once: registered again, its providers would be there twice. */
export function sharedModules({ startup, keyRing, clock: time, logger, ...parts }: Parts, counters: Metrics) {
  const { baseUrl, throttleStore: store } = startup.config;
  const { sessionLifetimeSeconds, partitionedCookie, maxSessionsPerUser } = startup.config;
  const onFailOpen = () => counters.throttleFailOpen.inc();
  const clock = ClockModule.register(time);
  const logging = LoggingModule.register(logger);
  const database = DatabaseModule.register(parts.database);
  const coordination = CoordinationModule.register(parts.coordination, parts.database, logger);
  const audit = AuditModule.register(keyRing, [logging, database]);
  const metrics = MetricsModule.register(counters, metricsAddress(startup.config));
  const watch = {
    onRefused: (flow: RefusedWork) => counters.databaseRefusals.inc({ flow }),
    onUnrecorded: () => counters.unrecordedEvents.inc(),
  };
  const outages = OutagesModule.register(watch, [logging, database]);
  const throttle = ThrottleModule.register({ store, onFailOpen }, [clock, logging, database, coordination]);
  const projects = ProjectsModule.register([database]);
  const users = UsersModule.register([database, projects]);
  const tokenEndpoint = () => tokenEndpointOf(startup, time);
  const onBearerRefused = (reason: BearerReason) => counters.apiRefusals.inc({ reason });
  const access = AccessModule.register(
    {
      baseUrl,
      scopes: SCOPES,
      resourceName: 'Instance API',
      resourceDocumentation: `${baseUrl}/api/v1/docs`,
      tokenEndpoint,
      onBearerRefused,
    },
    {
      cookieName: SESSION_COOKIE,
      lifetimeSeconds: sessionLifetimeSeconds,
      maxPerUser: maxSessionsPerUser,
      partitioned: partitionedCookie,
    },
    keyRing,
    InstanceUsers,
    [clock, logging, database, coordination, audit, users, outages],
  );
  const web = WebModule.register({
    publicDirectory: join(parts.sourceDirectory, 'web', 'public'),
    frameAncestors: () => parts.frameAncestors.current,
  });
  return {
    clock,
    logging,
    database,
    coordination,
    audit,
    metrics,
    outages,
    throttle,
    projects,
    users,
    access,
    web,
  };
}
