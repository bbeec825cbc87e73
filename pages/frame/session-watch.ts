// Watches a session: announces its end, and checks whether it has ended early.

/** A session's end is announced this long before. For a short session it is half its time, so that hosts do not renew all the time. */
const NOTICE_MS = 60_000;
/** While the page is visible, an end with another cause is noticed within five seconds. */
const LOOK_MS = 4_000;

interface Watcher {
  /** Checks whether the session still exists. */
  look: () => void;
  tellExpiring: () => void;
  tellOver: () => void;
}

export class SessionWatch {
  private timers: ReturnType<typeof setTimeout>[] = [];
  /** By two clocks: one may be set, and the other may stop while the machine sleeps. */
  private end = { clockMs: 0, monotonicMs: 0 };
  private isWatching = false;

  constructor(private readonly watcher: Watcher) {
    // After sleep or a lost network, it checks at once.
    for (const [target, name] of [
      [document, 'visibilitychange'],
      [window, 'online'],
    ] as const)
      target.addEventListener(name, () => this.lookInView());
  }

  /** @param leftMs the remaining time by the instance's clock, because this machine's may be wrong */
  follow(leftMs: number): void {
    this.stop();
    this.isWatching = true;
    this.end = { clockMs: Date.now() + leftMs, monotonicMs: performance.now() + leftMs };
    const noticeMs = Math.max(leftMs / 2, leftMs - NOTICE_MS);
    this.timers = [
      setTimeout(this.watcher.tellExpiring, noticeMs),
      setTimeout(this.watcher.tellOver, leftMs),
      setInterval(() => this.lookInView(), LOOK_MS),
    ];
  }

  /** Whether the session has reached its end. */
  get isOver(): boolean {
    return Date.now() >= this.end.clockMs || performance.now() >= this.end.monotonicMs;
  }

  stop(): void {
    this.isWatching = false;
    this.timers.forEach(clearTimeout);
  }

  private lookInView(): void {
    if (this.isWatching && !document.hidden) this.watcher.look();
  }
}
