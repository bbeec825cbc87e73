#!/usr/bin/env node
// Entry file of the admin command line, `svc-admin`.
import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { VERSION } from '../platform/version.js';
import { runCli } from './program.js';
import { TerminalPrompt } from './terminal.js';

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

let isClosed = false;
// A reader that stops early, such as `head`, is no fault.
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

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  // Not by process.stdin, which would make a pipe answer at once that nothing is there yet.
  stdin: { read: () => readFileSync(STANDARD_INPUT, 'utf8') },
  // If one of the two leads elsewhere, a question would not be seen or not be answered.
  terminal:
    isatty(STANDARD_INPUT) && isatty(STANDARD_ERROR) ? new TerminalPrompt(process, 'shown') : undefined,
  secrets: isatty(STANDARD_INPUT) ? new TerminalPrompt(process, 'hidden') : undefined,
  stdout,
  stderr: {
    write: (text) => process.stderr.write(text),
    isTerminal: isatty(STANDARD_ERROR),
  },
  version: VERSION,
});
