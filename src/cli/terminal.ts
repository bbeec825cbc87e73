// Questions and progress for a person at a terminal.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from '../administration/operation.js';
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

export interface Question<Answers extends object, Settings = undefined> {
  readonly name: keyof Answers & string;
  /** The option, as it is written in help. */
  readonly flag: string;
  readonly about: string;
  /** Returns the default; undefined if there is none. */
  readonly standard: (known: Partial<Answers>, settings: Settings) => string | undefined;
  /** Returns the rule that an answer breaks. */
  readonly check: (text: string) => string | undefined;
}

interface AnswerSources<Answers, Settings> {
  readonly given: Partial<Answers>;
  readonly settings: Settings;
  /** Asks the questions that options do not answer. If it is undefined, defaults decide. */
  readonly terminal: Terminal | undefined;
  /** Throws for an answer that is missing or breaks its rule, with a message about its option. */
  readonly refuse: (message: string) => never;
}

/** Returns all answers in the order of the questions: a default may depend on an earlier answer. */
export async function answersTo<Answers extends { readonly [Name in keyof Answers]: string }, Settings>(
  questions: readonly Question<Answers, Settings>[],
  { given, settings, terminal, refuse }: AnswerSources<Answers, Settings>,
): Promise<Answers> {
  const known: Partial<Record<keyof Answers, string>> = {};
  for (const question of questions) {
    const { name } = question;
    const option = given[name];
    const standard = option ?? question.standard(known as Partial<Answers>, settings);
    const isAsked = option === undefined && terminal !== undefined;
    known[name] = isAsked ? await asked(question, standard, terminal) : taken(question, standard, refuse);
  }
  // The loop fills every property, which TypeScript cannot follow.
  return known as Answers;
}

type Checked = Pick<Question<object, never>, 'flag' | 'about' | 'check'>;

function taken(
  { flag, about, check }: Checked,
  text: string | undefined,
  refuse: (message: string) => never,
): string {
  if (text === undefined) return refuse(`${flag} is needed: ${about}`);
  const rule = check(text);
  return rule === undefined ? text : refuse(`${flag} ${rule}`);
}

/** Repeats a question until its answer is valid. */
async function asked(
  { about, check }: Checked,
  standard: string | undefined,
  terminal: Terminal,
): Promise<string> {
  const hint = standard ? ` [${standard}]` : '';
  for (let complaint = ''; ;) {
    const line = (
      await terminal.ask(`${complaint}${about[0]?.toUpperCase()}${about.slice(1)}${hint}: `)
    ).trim();
    const text = line === '' ? (standard ?? '') : line;
    const rule = check(text);
    if (rule === undefined) return text;
    complaint = `It ${rule}.\n`;
  }
}

/** Splits a list at its commas. */
export function listed(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
