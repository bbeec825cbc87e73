// The composition root: puts the modules together, or leaves token exchange out.
import { join } from 'node:path';
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AuditStreamingModule } from './audit/streaming/audit-streaming.module.js';
import { retentionSettings, sinkSettings } from './audit/sinks/sink-settings.js';
import { License } from './config/license.js';
import type { LicenseFeature } from './config/license.js';
import type { Logger } from 'pino';
import type { Coordination } from './platform/jobs/coordination.module.js';
import type { OpenDatabase } from './platform/database/data-source.js';
import { poolState } from './platform/database/driver-pool.js';
import { DatabaseOutages } from './platform/http/database-outages.js';
import { ErrorFilter } from './platform/http/error.filter.js';
import { LOGGER } from './platform/log/log.js';
import { Metrics } from './metrics/metrics.js';
import { AvailabilityReporter } from './instance/availability.reporter.js';
import { quotaLimits } from './instance/startup.js';
import { NotFoundPageFilter } from './web/not-found-page.filter.js';
import { ReferenceModule } from './workspace/reference/reference.module.js';
import { WorkspaceModule } from './workspace/workspace.module.js';
import type { Parts, SharedModules } from './composition/shared.modules.js';
import { sharedModules } from './composition/shared.modules.js';
import { readiness } from './composition/readiness.module.js';
import { FormErrorFilter } from './composition/form-error.filter.js';
import { isAbsent } from './composition/routes.js';
import { tokenExchange } from './composition/token-exchange.modules.js';
import { FlowErrors } from './token-exchange/instance.js';
import { administration, operatorPage } from './composition/operator.modules.js';
import type { SinksReading } from './composition/operator.modules.js';

@Module({})
export class AppModule {
  static register(parts: Parts): DynamicModule {
    const { metrics } = parts;
    const availability = new AvailabilityReporter(parts.startup, parts.clock, parts.logger);
    watchLicense(parts, metrics);
    const modules = sharedModules(parts, metrics);
    const administered = administration(parts, modules);
    const exchange = tokenExchange(parts, modules);
    let sinks: SinksReading = () => [];
    const watchSinks = (read: SinksReading) => {
      sinks = read;
      metrics.watchSinks(read);
    };
    return {
      module: AppModule,
      imports: [
        modules.logging,
        modules.metrics,
        modules.database,
        modules.outages,
        auditStreaming(parts, modules, watchSinks),
        workspace(parts, modules, metrics),
        ...administered,
        ...operatorPage(parts, modules, {
          metrics,
          sinks: () => sinks(),
          needs: [...administered, ...exchange],
        }),
        ReferenceModule.register(join(parts.sourceDirectory, 'workspace', 'reference', 'public')),
        modules.web,
        ...exchange,
        readiness(parts, modules, availability, exchange),
      ],
      // The last one that takes an error answers it.
      providers: [
        { provide: APP_FILTER, useClass: ErrorFilter },
        ...formErrors(parts, exchange),
        { provide: APP_FILTER, useClass: NotFoundPageFilter },
        { provide: AvailabilityReporter, useFactory: () => availability },
      ],
    };
  }
}

/** Without token exchange there is no route of it. */
function formErrors(parts: Parts, exchange: readonly DynamicModule[]): Provider[] {
  if (exchange.length === 0) return [];
  const useFactory = (logger: Logger, outages: DatabaseOutages, flows: FlowErrors) =>
    new FormErrorFilter(logger, outages, flows, (route) => isAbsent(route, parts));
  return [{ provide: APP_FILTER, inject: [LOGGER, DatabaseOutages, FlowErrors], useFactory }];
}

/** Made before Nest, since the server counts as well. */
export function metricsOf({ dataSource }: OpenDatabase, { leader }: Coordination): Metrics {
  const metrics = new Metrics();
  metrics.watchLeader(() => leader.isLeader);
  metrics.watchDatabase(
    () => poolState(dataSource),
    () => dataSource.query('SELECT 1'),
  );
  return metrics;
}

function workspace({ startup, clock: time, keyRing }: Parts, modules: SharedModules, counters: Metrics) {
  const { clock, database, audit, outages, throttle, projects, users, access } = modules;
  return WorkspaceModule.register(
    {
      isLicensed: (feature: LicenseFeature) => startup.license.includes(feature, time.nowMs()),
      callsPerMinute: startup.config.apiCallsPerMinute,
      limits: quotaLimits(startup.config),
      onThrottled: () => counters.throttled.inc({ flow: 'api' }),
    },
    keyRing,
    [clock, database, audit, outages, throttle, projects, users, access],
  );
}

function auditStreaming(
  { startup: { config } }: Parts,
  { clock, logging, database, coordination }: SharedModules,
  watch: (read: SinksReading) => void,
): DynamicModule {
  return AuditStreamingModule.register(
    {
      sinks: sinkSettings(config),
      retention: retentionSettings(config),
      hostname: new URL(config.baseUrl).hostname,
      watch,
    },
    [clock, logging, database, coordination],
  );
}

/** An end that is no date is none that could be counted to. */
function watchLicense({ startup: { license }, clock }: Parts, metrics: Metrics): void {
  const endsAtMs = license.expiresAt.getTime();
  if (license === License.NONE || Number.isNaN(endsAtMs)) return;
  metrics.watchLicense(() => (endsAtMs - clock.nowMs()) / 1000);
}
