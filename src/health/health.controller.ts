// Whether the process lives, in which version, and whether it should get traffic.
import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common';
import { VERSION } from '../platform/version.js';
import type { FeatureState } from '../instance/availability.reporter.js';
import { GracefulShutdown } from '../platform/http/graceful-shutdown.js';

/** One thing that must be there before traffic makes sense. */
export interface ReadinessCheck {
  readonly name: string;
  isReady(): boolean | Promise<boolean>;
}

/** The parts that can be off. Readiness shows them, but does not depend on them. */
export interface Features {
  readonly tokenExchange: FeatureState;
}

/** Injection token of a function that returns the present features. */
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

  /** Ready when all that is checked is, until the service is to stop; health.module.ts says what is checked (D48). */
  @Get('readiness')
  async ready(): Promise<{ status: 'ready' } & Features> {
    if (this.shutdown.isUnderWay) throw notReady('The service is stopping');
    // However many ask, the database is asked once at a time.
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
