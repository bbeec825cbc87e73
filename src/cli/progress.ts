// Shows a person at a terminal the progress of a command, on standard error, and clears it again.
import type { CommandContext } from './command-settings.js';

const SHOWN_EVERY_MS = 1_000;
/** To the first column, and all behind it away. */
const WIPE = '\r\u001b[K';

type ProgressContext = Pick<CommandContext, 'stderr' | 'answers'>;

/** One line that is written over. Programs, files and --json get none. */
export class Progress {
  private shownAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly context: ProgressContext) {}

  /** Once a second at most. */
  show(text: string): void {
    const nowMs = performance.now();
    if (!this.isWatched || nowMs - this.shownAtMs < SHOWN_EVERY_MS) return;
    this.shownAtMs = nowMs;
    this.context.stderr.write(`${WIPE}${text} ...`);
  }

  /** Before anything else is written. */
  end(): void {
    if (this.shownAtMs > 0) this.context.stderr.write(WIPE);
  }

  private get isWatched(): boolean {
    return this.context.stderr.isTerminal === true && !this.context.answers.isJson;
  }
}

/** Shows the seconds of work that has no measure of its progress. */
export async function withProgress<T>(context: ProgressContext, doing: string, work: Promise<T>): Promise<T> {
  const progress = new Progress(context);
  const began = performance.now();
  const tick = () => progress.show(`${doing}, ${Math.round((performance.now() - began) / 1000)} s`);
  const timer = setInterval(tick, SHOWN_EVERY_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    progress.end();
  }
}
