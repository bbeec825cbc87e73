// The running tasks of a page by kind. A new task replaces the one of its kind, so a late answer never overwrites a newer one.

export class Tasks {
  private readonly underWay = new Map<string, AbortController>();

  giveUp(kind: string): void {
    this.underWay.get(kind)?.abort();
    this.underWay.delete(kind);
  }

  giveUpAll(): void {
    for (const kind of [...this.underWay.keys()]) this.giveUp(kind);
  }

  isUnderWay(kind: string): boolean {
    return this.underWay.has(kind);
  }

  /** @param fail receives an error of the work, unless the task was replaced */
  async run(
    kind: string,
    work: (signal: AbortSignal) => Promise<void>,
    fail: (error: unknown) => void,
  ): Promise<void> {
    this.giveUp(kind);
    const task = new AbortController();
    this.underWay.set(kind, task);
    try {
      await work(task.signal);
    } catch (error) {
      if (!task.signal.aborted) fail(error);
    } finally {
      if (this.underWay.get(kind) === task) this.underWay.delete(kind);
    }
  }
}
