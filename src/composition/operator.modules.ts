// Modules for operators: commands and the page, loaded only if they are configured.
import { join } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import type { SinkStatus } from '../audit/sinks/audit-streaming.js';
import { VARIABLES } from '../config/environment.js';
import { labelOf } from '../config/load-config.js';
import { VERSION } from '../platform/version.js';
import type { Metrics } from '../metrics/metrics.js';
import { quotaLimits, trustedKeysRules } from '../instance/startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import type { Parts, SharedModules } from './shared.modules.js';

/**
 * On PostgreSQL commands have the database for themselves: there only the operator's page asks the service. What is not asked
 * is not loaded, here and below.
 */
export async function administration(
  { startup, dataDirectory, clock: time }: Parts,
  { clock, logging, database, audit, access }: SharedModules,
): Promise<DynamicModule[]> {
  if (dataDirectory === undefined && !startup.config.adminEnabled) return [];
  const { AdministrationModule } = await import('../administration/administration.module.js');
  const { explainerOf } = await import('../instance/ports/instance-explainer.js');
  const trust = { configured: startup.trustedKeys, rules: trustedKeysRules(startup.config) };
  const configuredIn = labelOf(VARIABLES.trustedKeys, startup.given);
  const rules = explanationRules(startup, time);
  const explain = explainerOf(() => Promise.resolve(rules));
  const settings = { trust, configuredIn, limits: quotaLimits(startup.config), explain };
  const module = AdministrationModule.register(settings, [clock, logging, database, audit, access]);
  return dataDirectory === undefined
    ? [module]
    : [module, await commandSocket(dataDirectory, [logging, module])];
}

async function commandSocket(dataDirectory: string, needs: readonly DynamicModule[]): Promise<DynamicModule> {
  const { CommandSocketModule } = await import('../administration/socket/command.server.js');
  const { commandSocketPath } = await import('../administration/socket/command-socket.js');
  return CommandSocketModule.register({ path: commandSocketPath(dataDirectory), version: VERSION }, [
    ...needs,
  ]);
}

/** How the streams to all sinks go. */
export type SinksReading = () => readonly SinkStatus[];

/** @param needs administration, and token exchange where it is there */
export async function operatorPage(
  { startup, database: { kind: databaseKind }, coordination: { leader }, ...parts }: Parts,
  modules: SharedModules,
  { metrics, sinks, needs }: { metrics: Metrics; sinks: SinksReading; needs: readonly DynamicModule[] },
): Promise<DynamicModule[]> {
  const { adminEnabled, baseUrl } = startup.config;
  if (!adminEnabled) return [];
  const { OperatorModule } = await import('../operator/operator.module.js');
  const { OperatorPageModule } = await import('../operator/page/operator-page.module.js');
  const { clock, logging, database, coordination, audit, throttle, access, users } = modules;
  const options = {
    baseUrl,
    onHash: () => metrics.operatorPasswordHashes.inc(),
    onThrottled: () => metrics.throttled.inc({ flow: 'operator' }),
  };
  const state = { startup, leader, databaseKind, frameAncestors: () => parts.frameAncestors.current, sinks };
  const imports = [clock, logging, database, coordination, audit, throttle, access, users, ...needs];
  const pages = {
    publicDirectory: join(parts.sourceDirectory, 'operator', 'page', 'public'),
    sharedDirectory: join(parts.sourceDirectory, 'web', 'public'),
  };
  return [OperatorModule.register(options, state, imports), OperatorPageModule.register(pages)];
}
