// What readiness asks for, with token exchange and without it.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Features, ReadinessCheck } from '../health/health.controller.js';
import { FEATURES, HealthController, READINESS_CHECKS } from '../health/health.controller.js';
import type { AvailabilityReporter } from '../instance/availability.reporter.js';
import { GracefulShutdown } from '../platform/http/graceful-shutdown.js';
import {
  ClockDifference,
  JwksKeyProvider,
  Revocations,
  StoredEntryFollower,
} from '../token-exchange/instance.js';
import type { Parts, SharedModules } from './shared.modules.js';

@Module({})
class HealthModule {}

/** With token exchange its clock and keys belong to readiness, too. @param exchange its module, if there is one */
export function readiness(
  { shutdown }: Parts,
  { database, access }: SharedModules,
  availability: AvailabilityReporter,
  exchange: readonly DynamicModule[],
): DynamicModule {
  const state = (): Features => ({ tokenExchange: availability.state });
  const features =
    exchange.length === 0
      ? { useValue: state }
      : {
          inject: [JwksKeyProvider],
          useFactory: (keys: JwksKeyProvider) => () => withKeySets(state(), keys),
        };
  const own = [DataSource, Revocations];
  const checks =
    exchange.length === 0
      ? { inject: own, useFactory: ownChecks }
      : { inject: [...own, ClockDifference, JwksKeyProvider, StoredEntryFollower], useFactory: allChecks };
  return {
    module: HealthModule,
    imports: [database, access, ...exchange],
    controllers: [HealthController],
    providers: [
      { provide: GracefulShutdown, useValue: shutdown },
      { provide: READINESS_CHECKS, ...checks },
      { provide: FEATURES, ...features },
    ],
  };
}

function withKeySets({ tokenExchange }: Features, keys: JwksKeyProvider): Features {
  const states = keys.status().map(({ state }) => state);
  if (!tokenExchange.available || states.length === 0) return { tokenExchange };
  const keySets: Record<string, number> = {};
  for (const state of states) keySets[state] = (keySets[state] ?? 0) + 1;
  return { tokenExchange: { ...tokenExchange, keySets } };
}

function ownChecks(database: DataSource, revocations: Revocations): ReadinessCheck[] {
  return [
    { name: 'database', isReady: () => database.query('SELECT 1').then(() => true) },
    // Without news of them every credential gets a 503 (D60): requests are better off elsewhere.
    { name: 'revocations', isReady: () => revocations.isKnown },
  ];
}

/** @rule D48 Ready once the database answers and each configured JWKS entry has keys or one finished attempt. */
function allChecks(
  database: DataSource,
  revocations: Revocations,
  clocks: ClockDifference,
  keys: JwksKeyProvider,
  stored: StoredEntryFollower,
): ReadinessCheck[] {
  // One dead endpoint must not take every instance out of service: a finished attempt is enough.
  const hasKeySets = () =>
    keys.configuredStatus().every(({ state, reason }) => state !== 'never_held' || reason !== undefined);
  return [
    ...ownChecks(database, revocations),
    // While clocks differ too much both flows answer 503 (D97).
    { name: 'its clock', isReady: () => clocks.isSmall },
    { name: 'key sets', isReady: hasKeySets },
    // Nor one that is added while instances run, until its keys are fetched: it is enough to know which entries there are (D74).
    { name: 'stored entries', isReady: () => stored.isKnown },
  ];
}
