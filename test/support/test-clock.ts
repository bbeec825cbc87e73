// A clock that changes only when a test moves it.
import { Clock } from '../../src/platform/clock.js';

export class TestClock extends Clock {
  private elapsedMs = 0;

  constructor(private presentMs = Date.now()) {
    super();
  }

  override nowMs(): number {
    return this.presentMs;
  }

  override monotonicMs(): number {
    return this.elapsedMs;
  }

  advance(seconds: number): void {
    this.elapsedMs += seconds * 1000;
    this.presentMs += seconds * 1000;
  }

  /** Sets the clock like an administrator or a time server: no time passes. */
  setBack(seconds: number): void {
    this.presentMs -= seconds * 1000;
  }
}
