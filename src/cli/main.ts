#!/usr/bin/env node
// Entry file of the admin command line, `svc-admin`.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { CommandError } from '../administration/command-error.js';
import { VERSION } from '../platform/version.js';
import { runCli } from './program.js';
import { TerminalPrompt } from './terminal.js';

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

let isClosed = false;
// A reader that has seen enough, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  isClosed = true;
});
const stdout = {
  write: (text: string) => process.stdout.write(text),
  get isClosed() {
    return isClosed;
  },
  isTerminal: isatty(STANDARD_OUTPUT),
};

/** If one of the two leads elsewhere, a question would not be seen or not be answered. */
const terminal = isatty(STANDARD_INPUT) && isatty(STANDARD_ERROR) ? { ask } : undefined;

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const end = new Promise<never>((_, reject) =>
    lines.once('close', () => reject(new CommandError('There was no answer.'))),
  );
  try {
    return await Promise.race([lines.question(question), end]);
  } finally {
    lines.close();
  }
}

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  // Not by process.stdin, which would make a pipe answer at once that nothing is there yet.
  stdin: { read: () => readFileSync(STANDARD_INPUT, 'utf8') },
  terminal,
  secrets: isatty(STANDARD_INPUT) ? new TerminalPrompt(process) : undefined,
  stdout,
  stderr: {
    write: (text) => process.stderr.write(text),
    isTerminal: isatty(STANDARD_ERROR),
  },
  version: VERSION,
});
