// The only source of the current time, so that tests can replace it.

/** The current time, for every rule that compares times. */
export class Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number {
    return Date.now();
  }

  now(): Date {
    return new Date(this.nowMs());
  }

  /** Seconds since the Unix epoch, with fractions, as a NumericDate (RFC 7519 §2). */
  nowSeconds(): number {
    return this.nowMs() / 1000;
  }

  /** Milliseconds on a clock that nobody can set: for durations. */
  monotonicMs(): number {
    return performance.now();
  }
}
