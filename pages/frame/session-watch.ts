// Watches a session: says when it is about to end, and looks whether it has ended before its time.

/** How long before its end a session is announced to end; a short one at half its time, or hosts would do nothing but renew. */
const NOTICE_MS = 60_000;
/** While the page is in view: an end that nothing here has caused is told within five seconds. */
const LOOK_MS = 4_000;

interface Watcher {
  /** Finds out whether the session is still there. */
  look: () => void;
  tellExpiring: () => void;
  tellOver: () => void;
}

export class SessionWatch {
  private timers: ReturnType<typeof setTimeout>[] = [];
  /** By two clocks: one may be set, and the other may stand still while the machine sleeps. */
  private end = { clockMs: 0, monotonicMs: 0 };
  private isWatching = false;

  constructor(private readonly watcher: Watcher) {
    // A machine that has slept, or was away from the network, looks at once.
    for (const [target, name] of [
      [document, 'visibilitychange'],
      [window, 'online'],
    ] as const)
      target.addEventListener(name, () => this.lookInView());
  }

  /** @param leftMs until the session ends, as the instance counts: this machine's clock may be wrong */
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
