// Tells a person at a terminal that a command is at work, and how far it is: on standard error, where it is wiped away again.
import type { CommandContext } from './command-settings.js';

const TOLD_EVERY_MS = 1_000;
/** To the first column, and all behind it away. */
const WIPE = '\r\u001b[K';

type ProgressContext = Pick<CommandContext, 'stderr' | 'answers'>;

/** One line that is written over. Programs, files and --json get none. */
export class Progress {
  private toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly context: ProgressContext) {}

  /** Once a second at most. */
  tell(text: string): void {
    const nowMs = performance.now();
    if (!this.isWatched || nowMs - this.toldAtMs < TOLD_EVERY_MS) return;
    this.toldAtMs = nowMs;
    this.context.stderr.write(`${WIPE}${text} ...`);
  }

  /** Before anything else is written. */
  end(): void {
    if (this.toldAtMs > 0) this.context.stderr.write(WIPE);
  }

  private get isWatched(): boolean {
    return this.context.stderr.isTerminal === true && !this.context.answers.isJson;
  }
}

/** Tells how long work takes that cannot say how far it is. */
export async function withProgress<T>(context: ProgressContext, doing: string, work: Promise<T>): Promise<T> {
  const progress = new Progress(context);
  const began = performance.now();
  const tick = () => progress.tell(`${doing}, ${Math.round((performance.now() - began) / 1000)} s`);
  const timer = setInterval(tick, TOLD_EVERY_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    progress.end();
  }
}
