#!/usr/bin/env node
// Entry file of the admin command line, `svc-admin`.
import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { VERSION } from '../config/version.js';
import { runCli } from './program.js';
import { TerminalPrompt } from './terminal.js';

const STANDARD_INPUT = 0;

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
};

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  // Not by process.stdin, which would make a pipe answer at once that nothing is there yet.
  stdin: { read: () => readFileSync(STANDARD_INPUT, 'utf8') },
  secrets: isatty(STANDARD_INPUT) ? new TerminalPrompt(process) : undefined,
  stdout,
  stderr: process.stderr,
  version: VERSION,
});
