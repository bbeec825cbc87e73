// Traffic to several instances, as partners send it all the time.
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceInstance } from '../../support/service-cluster.js';

/** Posts one new token after another to each instance, and keeps what was not accepted. */
export class SteadyTraffic {
  /** The time that each accepted answer took, in milliseconds. */
  readonly tookMs: number[] = [];
  /** When and by whom a token was not accepted. */
  readonly refusals: string[] = [];
  private isEnding = false;
  private readonly loops: Promise<void[]>;

  /** @param pauseMs between an answer and the next request to the same instance */
  constructor(instances: readonly ServiceInstance[], makeToken: () => string, pauseMs: number) {
    this.loops = Promise.all(instances.map((instance) => this.loop(instance, makeToken, pauseMs)));
  }

  /** Resolves when every request has its answer. */
  async end(): Promise<void> {
    this.isEnding = true;
    await this.loops;
  }

  private async loop(instance: ServiceInstance, makeToken: () => string, pauseMs: number): Promise<void> {
    while (!this.isEnding) {
      const startedAt = performance.now();
      const outcome = await instance.exchangeStatus(makeToken()).catch((error: unknown) => String(error));
      if (outcome === 200) this.tookMs.push(performance.now() - startedAt);
      else this.refusals.push(`${new Date().toISOString()} ${instance.name}: ${outcome}`);
      await pause(pauseMs);
    }
  }
}
