// Liveness and readiness.
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccessModule } from '../access/access.module.js';
import { AvailabilityReporter } from '../instance/availability.js';
import {
  ClockDifference,
  JwksKeyProvider,
  Revocations,
  StoredEntryFollower,
} from '../token-exchange/instance.js';
import type { Features, ReadinessCheck } from './health.controller.js';
import { FEATURES, HealthController, READINESS_CHECKS } from './health.controller.js';

/** Undefined if token exchange is off. */
const KEYS = { token: JwksKeyProvider, optional: true };
const STORED_ENTRIES = { token: StoredEntryFollower, optional: true };

@Module({
  imports: [AccessModule],
  controllers: [HealthController],
  providers: [
    AvailabilityReporter,
    {
      provide: READINESS_CHECKS,
      inject: [DataSource, Revocations, ClockDifference, KEYS, STORED_ENTRIES],
      useFactory: readinessChecks,
    },
    {
      provide: FEATURES,
      inject: [AvailabilityReporter, KEYS],
      useFactory: (availability: AvailabilityReporter, keys?: JwksKeyProvider) => () =>
        featuresOf(availability, keys),
    },
  ],
})
export class HealthModule {}

function featuresOf({ state: tokenExchange }: AvailabilityReporter, keys?: JwksKeyProvider): Features {
  const states = keys?.status().map(({ state }) => state) ?? [];
  if (!tokenExchange.available || states.length === 0) return { tokenExchange };
  const keySets: Record<string, number> = {};
  for (const state of states) keySets[state] = (keySets[state] ?? 0) + 1;
  return { tokenExchange: { ...tokenExchange, keySets } };
}

/**
 * With token exchange, readiness also includes its clock and keys.
 */
function readinessChecks(
  database: DataSource,
  revocations: Revocations,
  clocks: ClockDifference,
  keys?: JwksKeyProvider,
  stored?: StoredEntryFollower,
): ReadinessCheck[] {
  const checks = [
    { name: 'database', isReady: () => database.query('SELECT 1').then(() => true) },
    // Without current revocations every credential gets 503 (D60), so other instances should get the
    // requests.
    { name: 'revocations', isReady: () => revocations.isKnown },
  ];
  if (keys === undefined || stored === undefined) return checks;
  // One dead endpoint must not take every instance out of service, so a finished attempt suffices.
  const hasKeySets = () =>
    keys.configuredStatus().every(({ state, reason }) => state !== 'never_held' || reason !== undefined);
  return [
    ...checks,
    // While the clocks differ too much, requests with external tokens get 503 (D97).
    { name: 'its clock', isReady: () => clocks.isSmall },
    { name: 'key sets', isReady: hasKeySets },
    // An entry that is added at run time must not do so either before its keys are fetched: knowing the
    // entries suffices (D72).
    { name: 'stored entries', isReady: () => stored.isKnown },
  ];
}
