// Reports whether the process is alive, its version, and whether it is ready for traffic.
import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common';
import { VERSION } from '../platform/version.js';
import type { FeatureState } from '../instance/availability.js';
import { GracefulShutdown } from '../platform/http/graceful-shutdown.js';

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
