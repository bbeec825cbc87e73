// Remembers what operators have just read, so that a page that is read again and again does not fill the trail with its readings.
const MINUTE_MS = 60_000;
/** Where more is read within a minute, the oldest is forgotten, and recorded once more. */
const MOST_REMEMBERED = 10_000;

export class RecordedReadings {
  /** When each reading was recorded, in milliseconds of a clock that only goes forward; the oldest first. */
  private readonly recordedAtMs = new Map<string, number>();

  /**
   * Whether a reading has to be recorded (D109): the first of a person, an operation and its things within a minute has. A command's
   * always has.
   */
  isDue(
    operation: string,
    things: Readonly<Record<string, string>>,
    operator: { readonly userId: string; readonly clientAddress: string } | undefined,
  ): boolean {
    if (operator === undefined) return true;
    const key = JSON.stringify([operator.userId, operator.clientAddress, operation, Object.entries(things)]);
    const nowMs = performance.now();
    const recordedAtMs = this.recordedAtMs.get(key);
    if (recordedAtMs !== undefined && nowMs - recordedAtMs < MINUTE_MS) return false;
    this.recordedAtMs.delete(key);
    this.recordedAtMs.set(key, nowMs);
    for (const [oldest, atMs] of this.recordedAtMs) {
      if (this.recordedAtMs.size <= MOST_REMEMBERED && nowMs - atMs < MINUTE_MS) break;
      this.recordedAtMs.delete(oldest);
    }
    return true;
  }

  /** A reading that could not be recorded is due again. */
  forget(): void {
    this.recordedAtMs.clear();
  }
}
