// svc-admin keys check: checks entries as the service does at its start, and fetches their key sets as it would.
import type { Command } from 'commander';
import { CommandError } from '../administration/command-error.js';
import type { ListedEntry } from '../administration/entries/list-entries.operation.js';
import type { FetchedKeySet } from '../administration/keys/key-set-trial.js';
import { fetchKeySets, fetchedInWords } from '../administration/keys/key-set-trial.js';
import { findingLines, printable, renderTable } from '../administration/table.js';
import type { TrustedKeyEntry, TrustedKeysReading } from '../token-exchange/instance.js';
import { policyInWords, readTrustedKeys, toJwksAddress } from '../token-exchange/instance.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-context.js';
import { entriesText } from './entries-text.js';
import { readTextFile } from './files.js';
import { rulesOf } from './instance-settings.js';
import { storedEntries } from './stored-entries.js';

const NO_KEYS =
  'There are no trusted keys: give --file, or set SVC_TOKEN_EXCHANGE_TRUSTED_KEYS or its _FILE.';
const HEADINGS = ['ENTRY', 'LABEL', 'TYPE', 'ISSUER', 'KID OR URL', 'ALGORITHMS', 'AUDIENCE', 'ROLES'];
const POLICY_HEADINGS = ['LABEL', 'POLICY'];

interface CheckOptions {
  readonly file?: string;
  readonly fetch?: true;
}

export function addCheck(keys: Command, context: CommandContext): void {
  const about = 'print every problem of the trusted key entries; exits with 1 if there is one';
  addCommand(keys, 'check', about, 'keys check --file trusted-keys.json --fetch')
    .option('--file <file>', 'the JSON array of entries; the configured and stored ones if left out')
    .option('--fetch', 'fetch each key set now, and print which of its keys are used; nothing is stored')
    .action((options: CheckOptions) => check(options, context));
}

async function check({ file, fetch }: CheckOptions, context: CommandContext): Promise<void> {
  const stored = file === undefined ? await storedEntries(context) : undefined;
  const text = configuredText(file, stored, context);
  const rules = rulesOf(context);
  const reading = readTrustedKeys(text, rules);
  const jwksEntries = reading.entries.filter((entry) => entry.type === 'jwks');
  const keySets = fetch === true ? await fetchKeySets(jwksEntries, rules) : undefined;
  const { entries, problems, notes } = reading;
  const warnings = [...reading.warnings, ...(stored ?? []).flatMap(openAudience)];
  const answer = { problems, warnings, notes, entries: entries.map(shownEntry), keySets, stored };
  context.answers.give(answer, checkText({ ...reading, warnings }, keySets, stored));
  if (problems.length > 0)
    throw new CommandError(`The service would not start with these keys; problems: ${problems.length}.`);
  const useless = keySets?.filter(({ keys }) => keys.length === 0) ?? [];
  if (useless.length > 0) throw new CommandError(`Key sets without a usable key: ${useless.length}.`);
}

/** An instance may have only stored entries. @throws CommandError if there is no entry */
function configuredText(
  file: string | undefined,
  stored: readonly ListedEntry[] = [],
  context: CommandContext,
): string {
  if (file !== undefined) return readTextFile(context, file);
  const { trustedKeys } = context.settings.read('trustedKeys');
  if (trustedKeys === undefined && stored.length === 0) throw new CommandError(NO_KEYS);
  return trustedKeys ?? '[]';
}

/** A refused entry accepts no token, so it needs no warning. */
function openAudience({ entry, state, audience }: ListedEntry): string[] {
  if (audience !== null || state === 'refused') return [];
  return [
    `${printable(entry)}, expectedAudience: is not set: a token that was made for another service is accepted too`,
  ];
}

function shownEntry(entry: TrustedKeyEntry) {
  const { entryIndex: index, label, type, issuer } = entry;
  const keys =
    entry.type === 'jwks'
      ? { url: toJwksAddress(entry.url).url }
      : { kid: entry.key.kid, algorithms: [...entry.key.algorithms] };
  return { index, entry: label, type, issuer, keys, policy: policyInWords(entry, new Date()) };
}

function checkText(
  reading: TrustedKeysReading,
  keySets: readonly FetchedKeySet[] = [],
  stored: readonly ListedEntry[] = [],
): string {
  const { entries } = reading;
  const policies = entries.map((entry) => [entry.label, policyInWords(entry, new Date()).join('; ')]);
  const configured = [renderTable(HEADINGS, entries.map(rowOf)), renderTable(POLICY_HEADINGS, policies)];
  const tables = [...configured, stored.length === 0 ? '' : entriesText(stored)];
  return [
    ...findingLines(reading),
    ...keySets.map(fetchedInWords),
    tables.filter((table) => table !== '').join('\n'),
  ].join('');
}

/** A fetched key determines its algorithms. The query of an address may be secret, so it is not shown. */
function rowOf(entry: TrustedKeyEntry): string[] {
  const { entryIndex, label, type, issuer, expectedAudience, allowedRoles } = entry;
  const keys =
    entry.type === 'jwks'
      ? [toJwksAddress(entry.url).url, "by the key's kind"]
      : [entry.key.kid, [...entry.key.algorithms].join(', ')];
  const roles = allowedRoles && ([...allowedRoles].join(', ') || 'none');
  const policy = [expectedAudience ?? 'not checked', roles ?? 'every assignable one'];
  return [String(entryIndex ?? ''), label, type, issuer, ...keys, ...policy];
}
