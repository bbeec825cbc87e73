#!/usr/bin/env node
// Writes the reference of docs/commands.md: every command of svc-admin with its arguments, options and examples, as its help has them.
// To be run after a build when a command has changed; a test says so where it was forgotten.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { START, commandReference } from './command-sections.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { createProgram } = await import(join(root, 'dist', 'src', 'cli', 'program.js'));
const quiet = { write: () => undefined };
const program = createProgram({ stdout: quiet, stderr: quiet, version: '' }, { isJson: false });
const page = join(root, 'docs', 'commands.md');
const [byHand] = readFileSync(page, 'utf8').split(START);
writeFileSync(page, `${byHand}${START}\n\n${commandReference(program)}`);
