// The one source of the present time, so that tests can put another in its place.

/** Tells the present time. Provided once; every rule that compares times asks it. */
export class Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number {
    return Date.now();
  }

  now(): Date {
    return new Date(this.nowMs());
  }

  /** Seconds since the Unix epoch with fractions, as a NumericDate (RFC 7519 §2). */
  nowSeconds(): number {
    return this.nowMs() / 1000;
  }

  /** Milliseconds since some moment, on a clock that nobody sets: for how long something takes or lasts. */
  monotonicMs(): number {
    return performance.now();
  }
}
