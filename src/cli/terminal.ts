// Questions and progress for a person at a terminal.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from '../administration/command-error.js';
import type { CommandContext, Terminal } from './command-context.js';

/** Discards what readline would echo. */
const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() });

export class TerminalPrompt implements Terminal {
  /**
   * @param streams read at the first question, because reading `process.stdin` opens it
   * @param echo whether the input is visible
   */
  constructor(
    private readonly streams: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
    private readonly echo: 'shown' | 'hidden',
  ) {}

  async ask(question: string): Promise<string> {
    const { stdin: input, stderr: shown } = this.streams;
    const isHidden = this.echo === 'hidden';
    if (isHidden) shown.write(question);
    const output = isHidden ? NOWHERE : shown;
    const reader = createInterface({ input, output, terminal: true, historySize: 0 });
    // Otherwise the process would wait for input forever.
    reader.on('SIGINT', () => process.exit(130));
    const end = new Promise<never>((_, reject) =>
      reader.once('close', () => reject(new CommandError('There was no answer.'))),
    );
    try {
      return await Promise.race([reader.question(isHidden ? '' : question), end]);
    } finally {
      reader.close();
      if (isHidden) shown.write('\n');
    }
  }
}

const SHOWN_EVERY_MS = 1_000;
/** Moves to the first column and clears the line. */
const WIPE = '\r\u001b[K';

type ProgressContext = Pick<CommandContext, 'stderr' | 'answers'>;

/** A progress line that is overwritten. Programs, files and --json get none. */
export class Progress {
  private shownAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly context: ProgressContext) {}

  /** Writes at most once a second. */
  show(text: string): void {
    const nowMs = performance.now();
    if (!this.isWatched || nowMs - this.shownAtMs < SHOWN_EVERY_MS) return;
    this.shownAtMs = nowMs;
    this.context.stderr.write(`${WIPE}${text} ...`);
  }

  /** Call it before anything else is written. */
  end(): void {
    if (this.shownAtMs > 0) this.context.stderr.write(WIPE);
  }

  private get isWatched(): boolean {
    return this.context.stderr.isTerminal === true && !this.context.answers.isJson;
  }
}

/** Shows the elapsed seconds of work whose progress is unknown. */
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
