// What readiness asks for, with token exchange and without it.
import type { DynamicModule } from '@nestjs/common';
import { HealthModule } from '../health/health.module.js';
import type { AvailabilityReporter } from '../instance/availability.reporter.js';
import type { Parts, SharedModules } from './shared.modules.js';
import { DataSource } from 'typeorm';
import type { ReadinessCheck } from '../health/health.controller.js';
import {
  ClockDifference,
  JwksKeyProvider,
  Revocations,
  StoredEntryFollower,
} from '../token-exchange/instance.js';

/** With token exchange its clock and keys belong to readiness, too. @param exchange its module, if there is one */
export function readiness(
  { shutdown }: Parts,
  { database, access }: SharedModules,
  availability: AvailabilityReporter,
  exchange: readonly DynamicModule[],
): DynamicModule {
  const features = () => ({ tokenExchange: availability.state });
  const imports = [database, access, ...exchange];
  const own = [DataSource, Revocations];
  const asked =
    exchange.length === 0
      ? { inject: own, useFactory: ownChecks }
      : { inject: [...own, ClockDifference, JwksKeyProvider, StoredEntryFollower], useFactory: allChecks };
  return HealthModule.registerAsync({ shutdown, imports, ...asked, features });
}

function ownChecks(database: DataSource, revocations: Revocations): ReadinessCheck[] {
  return [databaseCheck(database), revocationsCheck(revocations)];
}

function allChecks(
  database: DataSource,
  revocations: Revocations,
  clocks: ClockDifference,
  keys: JwksKeyProvider,
  stored: StoredEntryFollower,
): ReadinessCheck[] {
  const own = ownChecks(database, revocations);
  return [...own, clockCheck(clocks), keySetCheck(keys), storedEntriesCheck(stored)];
}

function databaseCheck(database: DataSource): ReadinessCheck {
  return {
    name: 'database',
    isReady: async () => {
      await database.query('SELECT 1');
      return true;
    },
  };
}

/** Without news of them every credential gets a 503 (D60): requests are better off elsewhere. */
function revocationsCheck(revocations: Revocations): ReadinessCheck {
  return { name: 'revocations', isReady: () => Promise.resolve(revocations.isKnown) };
}

/** While clocks differ too much both flows answer 503 (D97). */
function clockCheck(clocks: ClockDifference): ReadinessCheck {
  return { name: 'its clock', isReady: () => Promise.resolve(clocks.isSmall) };
}

/**
 * One dead endpoint must not take every instance out of service: a finished attempt is enough.
 * @rule D48 Ready once the database answers and each configured JWKS entry has keys or one finished attempt.
 */
function keySetCheck(keys: JwksKeyProvider): ReadinessCheck {
  const isReady = () =>
    Promise.resolve(keys.configuredStatus().every((status) => status.hasSnapshotOrAttempt));
  return { name: 'key sets', isReady };
}

/**
 * An entry that is added while instances run must not take all of them out of service until its keys are fetched: it is
 * enough to know which entries there are (D74).
 */
function storedEntriesCheck(stored: StoredEntryFollower): ReadinessCheck {
  return { name: 'stored entries', isReady: () => Promise.resolve(stored.isKnown) };
}
