// A clock that goes as the machine's does, and that tests set: the one of an instance whose time somebody sets.
import { Clock } from '../../src/platform/clock.js';

export class SetClock extends Clock {
  /** How far it is ahead of the machine's, in seconds. */
  aheadSeconds = 0;

  override nowMs(): number {
    return Date.now() + this.aheadSeconds * 1000;
  }
}
