#!/usr/bin/env node
// Entry file of the admin command line, `svc-admin`.
import { readFileSync } from 'node:fs';
import { VERSION } from '../config/version.js';
import { runCli } from './program.js';

// A reader that has seen enough, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  stdin: { read: () => readFileSync(process.stdin.fd, 'utf8') },
  stdout: process.stdout,
  stderr: process.stderr,
  version: VERSION,
});
