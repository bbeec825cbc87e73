// A clock that differs from the machine's, and so from the database's, by as much as a test says.
import { Clock } from '../../src/platform/clock.js';

export class SetClock extends Clock {
  /** How far it is ahead of the machine's, in seconds. */
  aheadSeconds = 0;

  override nowMs(): number {
    return Date.now() + this.aheadSeconds * 1000;
  }
}
