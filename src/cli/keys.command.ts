// svc-admin keys: judges trusted key entries as the start of the service does.
import type { Command } from 'commander';
import { VARIABLES } from '../config/environment.js';
import type { TrustedKeyEntry, TrustPolicy } from '../token-exchange/keys/trusted-key.js';
import { readTrustedKeys } from '../token-exchange/keys/trusted-key-entry.js';
import { ASSIGNABLE_ROLES } from '../users/role.js';
import type { CommandContext } from './command-context.js';
import { CommandError } from './command-error.js';
import { renderTable } from './table.js';
import { readTextFile } from './text-file.js';

const HEADINGS = ['ENTRY', 'LABEL', 'TYPE', 'ISSUER', 'KID OR URL', 'ALGORITHMS', 'AUDIENCE', 'ROLES'];

interface CheckOptions {
  file?: string;
}

export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('look after the trusted keys');
  addCheck(keys, context);
}

function addCheck(keys: Command, context: CommandContext): void {
  keys
    .command('check')
    .description('tell every problem of the trusted key entries; exits with 1 if there is one')
    .option('--file <file>', 'the JSON array of entries; the configured one if left out')
    .addHelpText('after', '\nExample:\n  svc-admin keys check --file trusted-keys.json')
    .action((options: CheckOptions) => check(options, context));
}

function check({ file }: CheckOptions, context: CommandContext): void {
  const text = file === undefined ? configuredKeys(context) : readTextFile(context, file);
  const { jwksAllowHttp: allowHttp } = context.settings.read(VARIABLES.jwksAllowHttp);
  const { entries, problems, warnings } = readTrustedKeys(text, {
    assignableRoles: ASSIGNABLE_ROLES,
    allowHttp,
  });
  for (const problem of problems) context.stdout.write(`problem: ${problem}\n`);
  for (const warning of warnings) context.stdout.write(`warning: ${warning}\n`);
  context.stdout.write(renderTable(HEADINGS, entries.map(rowOf)));
  if (problems.length === 0) return;
  throw new CommandError(`The service would not start with these keys; problems: ${problems.length}.`);
}

function configuredKeys({ settings }: CommandContext): string {
  const { trustedKeys } = settings.read(VARIABLES.trustedKeys);
  if (trustedKeys !== undefined) return trustedKeys;
  throw new CommandError(
    'There are no trusted keys: give --file, or set SVC_TOKEN_EXCHANGE_TRUSTED_KEYS or its _FILE.',
  );
}

function rowOf(entry: TrustedKeyEntry): string[] {
  const { entryIndex, label, type, issuer, expectedAudience } = entry;
  const audience = expectedAudience === undefined ? 'not checked' : 'checked';
  return [String(entryIndex), label, type, issuer, ...keyCells(entry), audience, rolesCell(entry)];
}

/** The algorithms of fetched keys follow from each key. */
function keyCells(entry: TrustedKeyEntry): [string, string] {
  if (entry.type === 'jwks') return [entry.url, "by the key's kind"];
  return [entry.key.kid, [...entry.key.algorithms].join(', ')];
}

function rolesCell({ allowedRoles }: TrustPolicy): string {
  if (allowedRoles === undefined) return 'every assignable one';
  return [...allowedRoles].join(', ') || 'none';
}
