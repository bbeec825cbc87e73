// Asks for secrets at a terminal, without showing what is typed.
import { Writable } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import type { Terminal } from './cli-context.js';

/** Takes what readline would echo, and shows nothing of it. */
const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() });

export class TerminalPrompt implements Terminal {
  /** @param streams looked at when something is asked, since a look at standard input opens it */
  constructor(private readonly streams: Pick<NodeJS.Process, 'stdin' | 'stderr'>) {}

  async ask(question: string): Promise<string> {
    const { stdin: input, stderr: output } = this.streams;
    output.write(question);
    const reader = createInterface({ input, output: NOWHERE, terminal: true, historySize: 0 });
    // Else the process would wait for input for ever.
    reader.on('SIGINT', () => process.exit(130));
    try {
      return await reader.question('');
    } finally {
      reader.close();
      output.write('\n');
    }
  }
}
