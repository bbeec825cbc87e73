// Liveness and readiness.
import { Controller, Get, Inject, Module, ServiceUnavailableException } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccessModule } from '../access/access.module.js';
import type { FeatureState } from '../instance/availability.js';
import { AvailabilityReporter } from '../instance/availability.js';
import { GracefulShutdown } from '../platform/http/connections.js';
import { VERSION } from '../platform/version.js';
import {
  ClockDifference,
  JwksKeyProvider,
  Revocations,
  StoredEntryFollower,
} from '../token-exchange/instance.js';

/** A condition for readiness. */
export interface ReadinessCheck {
  readonly name: string;
  isReady(): boolean | Promise<boolean>;
}

/** The optional parts. Readiness shows their state, but does not depend on it. */
export interface Features {
  readonly tokenExchange: FeatureState;
}

/** Injection token of a function that returns the current features. */
export const FEATURES = Symbol('FEATURES');

/** Injection token of the list of checks. */
export const READINESS_CHECKS = Symbol('READINESS_CHECKS');

@Controller('healthz')
export class HealthController {
  private checking: Promise<string[]> | undefined;

  constructor(
    private readonly shutdown: GracefulShutdown,
    @Inject(READINESS_CHECKS) private readonly checks: readonly ReadinessCheck[],
    @Inject(FEATURES) private readonly features: () => Features,
  ) {}

  @Get()
  alive(): { status: 'ok'; version: string } {
    return { status: 'ok', version: VERSION };
  }

  /** Ready if all checks pass and the service is not stopping. See health.module.ts for the checks. */
  @Get('readiness')
  async ready(): Promise<{ status: 'ready' } & Features> {
    if (this.shutdown.isUnderWay) throw notReady('The service is stopping');
    // Concurrent requests share one check of the database.
    this.checking ??= this.unready().finally(() => (this.checking = undefined));
    const waitingFor = await this.checking;
    if (waitingFor.length === 0) return { status: 'ready', ...this.features() };
    throw notReady(`Waiting for ${waitingFor.join(', ')}`);
  }

  private async unready(): Promise<string[]> {
    const results = await Promise.allSettled(this.checks.map(async (check) => check.isReady()));
    const isReady = (result?: PromiseSettledResult<boolean>) =>
      result?.status === 'fulfilled' && result.value;
    return this.checks.filter((_, index) => !isReady(results[index])).map(({ name }) => name);
  }
}

function notReady(message: string): ServiceUnavailableException {
  return new ServiceUnavailableException({ error: 'not_ready', message });
}

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
