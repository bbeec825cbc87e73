// Makes a clock that differs from the machine's, and so from the database's, by a given time.
import { Clock } from '../../src/platform/clock.js';

export class SetClock extends Clock {
  /** Its difference from the machine's clock in seconds; positive if it is ahead. */
  aheadSeconds = 0;

  override nowMs(): number {
    return Date.now() + this.aheadSeconds * 1000;
  }
}
