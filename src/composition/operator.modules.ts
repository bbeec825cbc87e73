// Modules for operators: commands and the page.
import { join } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { Administration } from '../administration/administration.js';
import { AdministrationModule } from '../administration/administration.module.js';
import { commandSocketPath } from '../administration/socket/command-socket.js';
import { CommandServer } from '../administration/socket/command.server.js';
import type { SinkStatus } from '../audit/sinks/audit-streaming.js';
import { VARIABLES } from '../config/environment.js';
import { labelOf } from '../config/load-config.js';
import { LOGGER } from '../platform/log/log.js';
import type { Metrics } from '../metrics/metrics.js';
import { explainerOf } from '../instance/ports/instance-explainer.js';
import { quotaLimits, trustedKeysRules } from '../instance/startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import { OperatorModule } from '../operator/operator.module.js';
import { OperatorPageModule } from '../operator/page/operator-page.module.js';
import type { Parts, SharedModules } from './shared.modules.js';
import { offering } from './shared.modules.js';

/** On PostgreSQL commands have the database for themselves: there only the operator's page asks the service. */
export function administration(
  { startup, dataDirectory, clock: time }: Parts,
  { clock, logging, database, audit, access }: SharedModules,
): DynamicModule[] {
  if (dataDirectory === undefined && !startup.config.adminEnabled) return [];
  const trust = { configured: startup.trustedKeys, rules: trustedKeysRules(startup.config) };
  const configuredIn = labelOf(VARIABLES.trustedKeys, startup.given);
  const rules = explanationRules(startup, time);
  const explain = explainerOf(() => Promise.resolve(rules));
  const settings = { trust, configuredIn, limits: quotaLimits(startup.config), explain };
  const module = AdministrationModule.register(settings, [clock, logging, database, audit, access]);
  return dataDirectory === undefined ? [module] : [module, commandSocket(dataDirectory, [logging, module])];
}

function commandSocket(dataDirectory: string, needs: readonly DynamicModule[]): DynamicModule {
  const useFactory = (performs: Administration, logger: Logger) =>
    new CommandServer(commandSocketPath(dataDirectory), performs, logger);
  const server = { provide: CommandServer, useFactory, inject: [Administration, LOGGER] };
  return offering(class CommandSocketModule {}, [server], needs);
}

/** How the streams to all sinks go. */
export type SinksReading = () => readonly SinkStatus[];

/** @param needs administration, and token exchange where it is there */
export function operatorPage(
  { startup, database: { kind: databaseKind }, coordination: { leader }, ...parts }: Parts,
  modules: SharedModules,
  { metrics, sinks, needs }: { metrics: Metrics; sinks: SinksReading; needs: readonly DynamicModule[] },
): DynamicModule[] {
  const { adminEnabled, baseUrl } = startup.config;
  if (!adminEnabled) return [];
  const { clock, logging, database, coordination, audit, throttle, access, users } = modules;
  const options = {
    baseUrl,
    onHash: () => metrics.operatorPasswordHashes.inc(),
    onThrottled: () => metrics.throttled.inc({ flow: 'operator' }),
  };
  const state = { startup, leader, databaseKind, frameAncestors: () => parts.frameAncestors.current, sinks };
  const imports = [clock, logging, database, coordination, audit, throttle, access, users, ...needs];
  const pages = join(parts.sourceDirectory, 'operator', 'page', 'public');
  return [OperatorModule.register(options, state, imports), OperatorPageModule.register(pages)];
}
