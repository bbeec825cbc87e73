#!/usr/bin/env node
// Entry file of the admin command line, `svc-admin`.
import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { CommandError } from '../administration/operation.js';
import { VERSION } from '../platform/version.js';
import { Answers } from './command-context.js';
import { runCli } from './program.js';
import { TerminalPrompt } from './terminal.js';

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

const FAILED = 1;

let isClosed = false;
const stdout = {
  write: (text: string) => process.stdout.write(text),
  get isClosed() {
    return isClosed;
  },
  isTerminal: isatty(STANDARD_OUTPUT),
};

const stderr = {
  write: (text: string) => process.stderr.write(text),
  isTerminal: isatty(STANDARD_ERROR),
};
const args = process.argv.slice(2);

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  isClosed = true;
  // A reader that stops early, such as `head`, is not an error.
  if (code === 'EPIPE') return;
  const fault = new CommandError(
    `Standard output cannot be written (${code}): check whether the command succeeded before you repeat it.`,
  );
  new Answers({ stdout, stderr }, args.includes('--json')).fail(fault, FAILED);
  process.exit(FAILED);
});

process.exitCode = await runCli(args, {
  environment: process.env,
  workingDirectory: process.cwd(),
  // process.stdin would make the pipe non-blocking, and a read would fail before data arrives.
  stdin: { read: () => readFileSync(STANDARD_INPUT) },
  // If one of them is redirected, a question could not be seen or answered.
  terminal:
    isatty(STANDARD_INPUT) && isatty(STANDARD_ERROR) ? new TerminalPrompt(process, 'shown') : undefined,
  secrets: isatty(STANDARD_INPUT) ? new TerminalPrompt(process, 'hidden') : undefined,
  stdout,
  stderr,
  version: VERSION,
});
