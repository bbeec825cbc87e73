// Whether a worker still turns its event loop: it is asked, and answers.

/** So often it is asked, and so many times in vain. */
const BEAT_MS = 2_000;
const MOST_MISSED = 10;

/**
 * A worker that is stuck lets all wait that it has taken on, and where it is the candidate, nobody leads.
 * Counted are questions without an answer, not the time: a machine that was asleep has missed none.
 */
export class Pulse {
  private readonly timer: NodeJS.Timeout;
  private missed = 0;
  private isAsking = false;

  /**
   * @param ask resolves with the worker's answer; rejects where the worker is gone, whose end is seen otherwise
   * @param onLost called once, after twenty seconds without an answer
   */
  constructor(
    private readonly ask: () => Promise<void>,
    private readonly onLost: () => void,
  ) {
    this.timer = setInterval(() => this.beat(), BEAT_MS).unref();
  }

  end(): void {
    clearInterval(this.timer);
  }

  private beat(): void {
    if (this.isAsking) return this.miss();
    this.isAsking = true;
    this.ask().then(
      () => this.felt(),
      () => this.end(),
    );
  }

  private felt(): void {
    this.isAsking = false;
    this.missed = 0;
  }

  private miss(): void {
    this.missed += 1;
    if (this.missed < MOST_MISSED) return;
    this.end();
    this.onLost();
  }
}
