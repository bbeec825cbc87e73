// A stopped clock for the partner's client. It advances at once by the time that the client waits.
import type { PartnerClock } from '../../../packages/partner/src/index.js';
import { TestClock } from '../../support/test-clock.js';

export class WaitingClock extends TestClock implements PartnerClock {
  /** How long somebody has waited each time, in milliseconds. */
  readonly waits: number[] = [];

  async wait(milliseconds: number): Promise<void> {
    this.waits.push(milliseconds);
    this.advance(milliseconds / 1000);
  }
}
