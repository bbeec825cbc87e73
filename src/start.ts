#!/usr/bin/env node
// Entry file of `npx embedded-token-exchange`: sets an instance up where there is none, and starts the service.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isForInit } from './instance/command-line.js';

const IN_PLACE = 3;
const args = process.argv.slice(2);

if (isForInit(args, process.env, existsSync('.env'))) {
  const command = fileURLToPath(new URL('./cli/svc-admin.js', import.meta.url));
  const { status } = spawnSync(process.execPath, [command, 'init', ...args], { stdio: 'inherit' });
  // What is there already stays, so that the same line starts the service again. With `--dir` the settings are elsewhere.
  if ((status !== 0 && status !== IN_PLACE) || !existsSync('.env')) process.exit(status ?? 1);
  process.stderr.write('\nThe service starts; the other commands in another terminal.\n');
  process.argv.splice(2);
}
await import('./main.js');
