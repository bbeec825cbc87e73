// svc-admin keys check: checks entries as the service does at its start, and fetches their key sets as it would.
import type { Command } from 'commander';
import { CommandError } from '../administration/command-error.js';
import type { ListedEntry } from '../administration/entries/list-entries.operation.js';
import { configuredEntries, EntryListOperations } from '../administration/entries/list-entries.operation.js';
import { fetchedInWords, fetchKeySets } from '../administration/keys/key-sets.operations.js';
import { findingLines, printable, renderTable } from '../administration/table.js';
import { ConfigurationError } from '../config/load-config.js';
import { SCHEMA } from '../instance/schema.js';
import { hasDatabase } from '../platform/database/embedded/data-directory.js';
import { counted } from '../platform/text/wording.js';
import { readTrustedKeys } from '../token-exchange/instance.js';
import { addCommand } from './command.js';
import { instanceDatabase } from './command.module.js';
import { reasonOf } from './command-answers.js';
import type { CommandContext } from './command-context.js';
import { readTextFile } from './files.js';
import { rulesOf } from './instance-settings.js';
import { perform } from './operation-call.js';

const NO_KEYS =
  'There are no trusted keys: give --file, or set SVC_TOKEN_EXCHANGE_TRUSTED_KEYS or its _FILE.';
const HEADINGS = ['ENTRY', 'FROM', 'STATE', 'TYPE', 'ISSUER', 'KID OR URL', 'AUDIENCE', 'UNTIL', 'CHANGED'];
const POLICY_HEADINGS = ['ENTRY', 'POLICY'];
/** An entry that ends within this time is marked, as on the operator's page and in the alerts. */
const NOTICE_DAYS = 30;
const DAY_MS = 86_400_000;

interface CheckOptions {
  readonly file?: string;
  readonly fetch?: true;
}

export function addCheck(keys: Command, context: CommandContext): void {
  const about = 'check the trusted key entries; exits with 1 if there is a problem';
  addCommand(keys, 'check', about, 'keys check --file trusted-keys.json --fetch')
    .option('--file <file>', 'the JSON array of entries; the configured and stored ones if left out')
    .option('--fetch', 'fetch each key set now, and print which of its keys are used; nothing is stored')
    .action((options: CheckOptions) => check(options, context));
}

async function check({ file, fetch }: CheckOptions, context: CommandContext): Promise<void> {
  const stored = file === undefined ? await storedEntries(context) : undefined;
  const configuration = configuredText(file, stored, context);
  const rules = rulesOf(context);
  const { entries, problems, ...reading } = readTrustedKeys(configuration, rules);
  const jwksEntries = entries.filter((entry) => entry.type === 'jwks');
  const keySets = fetch === true ? await fetchKeySets(jwksEntries, rules) : undefined;
  const warnings = [...reading.warnings, ...(stored ?? []).flatMap(openAudience)];
  const place = file ?? context.settings.labelOf('trustedKeys');
  const configured = await configuredEntries(entries, place, new Date());
  const text = [
    ...findingLines({ problems, warnings }),
    ...(keySets ?? []).map(fetchedInWords),
    entriesText([...configured, ...(stored ?? [])]),
  ];
  context.answers.give({ problems, warnings, entries: configured, keySets, stored }, text.join(''));
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
  return [`${printable(entry)}, expectedAudience: is not set, so tokens for other services are accepted too`];
}

/**
 * Asks the running service or the database for stored entries, without creating or migrating it.
 * @returns undefined, with a remark, if there is neither
 */
export async function storedEntries(context: CommandContext): Promise<readonly ListedEntry[] | undefined> {
  try {
    const settings = instanceDatabase(context);
    if (settings.kind === 'embedded' && !hasDatabase(settings.directory))
      throw new CommandError(`There is no database in ${settings.directory}.`);
    const schema = { ...SCHEMA, mayMigrate: false };
    const all = await perform(context, EntryListOperations, 'list', {}, schema);
    return all.filter(({ from }) => from === 'command');
  } catch (error) {
    const isConfiguration = error instanceof ConfigurationError;
    const reason = isConfiguration ? 'The configuration has problems.' : reasonOf(error);
    context.answers.remark(`Stored entries are not checked: ${reason}`);
    return undefined;
  }
}

/** The text of `keys list` and `keys check`. */
export function entriesText(all: readonly ListedEntry[]): string {
  if (all.length === 0) return '';
  const tables = [renderTable(HEADINGS, all.map(rowOf)), renderTable(POLICY_HEADINGS, all.map(policyRow))];
  const place = all.find(({ from }) => from === 'configuration')?.configuredIn;
  const note = `Configured entries are in ${printable(place ?? '')}: change them there, and restart.\n`;
  return [...tables, ...(place === undefined ? [] : [note])].join('\n');
}
function rowOf(listed: ListedEntry): string[] {
  const { entry, from, state, revoked, type, issuer, keys, audience, until, changedAt } = listed;
  const stateCell = state === 'trusted' && revoked.length > 0 ? 'trusted, except revoked keys' : state;
  const place = keys === null ? '' : 'kid' in keys ? keys.kid : keys.url;
  const trust = [type ?? '', issuer ?? '', place, type === null ? '' : (audience ?? 'not checked')];
  return [entry, from, stateCell, ...trust, untilCell(until), changedAt ?? ''];
}

/** Marks an end that is near. */
function untilCell(until: string | null): string {
  if (until === null) return 'no end';
  const days = Math.ceil((Date.parse(until) - Date.now()) / DAY_MS);
  const moment = until.replace('.000', '');
  return days > 0 && days <= NOTICE_DAYS ? `${moment} (within ${counted(days, 'day')})` : moment;
}

function policyRow({ entry, policy, problems }: ListedEntry): string[] {
  return [entry, problems.length > 0 ? `nothing: ${problems.join('; ')}` : policy.join('; ')];
}
