// A clock that stands still until a test moves it.
import { Clock } from '../../src/clock.js';

export class TestClock extends Clock {
  constructor(private presentMs = Date.now()) {
    super();
  }

  override nowMs(): number {
    return this.presentMs;
  }

  advance(seconds: number): void {
    this.presentMs += seconds * 1000;
  }
}
