// Asks a person at a terminal, beside what the command prints.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from '../administration/command-error.js';
import type { Terminal } from './cli-context.js';

/** Takes what readline would echo, and shows nothing of it. */
const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() });

export class TerminalPrompt implements Terminal {
  /**
   * @param streams looked at when something is asked, since a look at standard input opens it
   * @param echo whether what is typed can be seen
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
    // Else the process would wait for input for ever.
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
