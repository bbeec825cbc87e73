// svc-admin keys: makes keys and entries, checks them as the start of the service does, shows what was fetched for them, and
// revokes.
import type { Command } from 'commander';
import { LIST_ENTRIES } from '../administration/entries.operations.js';
import type { StoredKeySet } from '../administration/key-sets.operations.js';
import { LIST_KEY_SETS } from '../administration/key-sets.operations.js';
import type { JwksAddress } from '../token-exchange/instance.js';
import { toJwksAddress } from '../token-exchange/instance.js';
import type {
  JwksEntry,
  TrustedKeyEntry,
  TrustedKeysReading,
  TrustPolicy,
  Algorithm,
} from '../token-exchange/plain.js';
import { policyInWords, readTrustedKeys, ALGORITHMS, newPrivateKey } from '../token-exchange/plain.js';
import { readList } from './administration.js';
import { configuredKeys, rulesOf } from './instance-settings.js';
import type { CommandContext } from './command-settings.js';
import { CommandError } from '../administration/command-error.js';
import { addEntryCommand } from './key-entry.command.js';
import type { FetchedKeySet } from './fetched-key-sets.js';
import { fetchKeySets, fetchedInWords, isUseless } from './fetched-key-sets.js';
import { addRefresh, stateInWords } from './refresh.command.js';
import { addRevocationCommands } from './revocation.commands.js';
import { addEntryCommands } from './stored-entries.command.js';
import { findingLines, renderTable, printable } from './table.js';
import { readTextFile, refuseExisting, writeTextFile } from './text-file.js';
import { Option } from 'commander';
import { defaultKid, keyPaths, keyTexts } from './key-files.js';

/** svc-admin keys keygen: makes the key pair by which a partner signs. */
interface KeygenOptions {
  readonly alg: Algorithm;
  readonly out: string;
  readonly kid?: string;
  readonly force?: boolean;
}

export function addKeygen(keys: Command, context: CommandContext): void {
  keys
    .command('keygen')
    .description(
      'create the key pair that a partner signs with; the private key belongs to the partner alone',
    )
    .addOption(new Option('--alg <name>', 'algorithm of its tokens').choices(ALGORITHMS).default('ES256'))
    .option('--out <file>', 'file for the private key; readable by its owner only', 'partner.pem')
    .option('--kid <kid>', '`kid` of the key; its thumbprint (RFC 7638) if left out')
    .option('--force', 'replace existing files')
    .addHelpText(
      'after',
      '\nThe public key and a key set of it (JWKS) go beside the private key: FILE.pub.pem and FILE.jwks.json.\n' +
        '\nExample:\n  svc-admin keys keygen --alg ES256 --kid 2026-11 --out partner.pem',
    )
    .action((options: KeygenOptions) => keygen(options, context));
}

async function keygen({ alg, out, kid: given, force }: KeygenOptions, context: CommandContext) {
  const paths = keyPaths(out);
  for (const path of Object.values(paths)) refuseExisting(context, path, { force });
  const privateKey = newPrivateKey(alg);
  const kid = given ?? (await defaultKid(privateKey));
  const { privatePem, publicPem, jwks } = keyTexts(privateKey, kid, alg);
  writeTextFile(context, paths.publicKey, publicPem, { force });
  writeTextFile(context, paths.jwks, jwks, { force });
  writeTextFile(context, paths.privateKey, privatePem, { force, isPrivate: true });
  const text =
    `The private key is in ${paths.privateKey}, the public key in ${paths.publicKey} and, as a key set, in ${paths.jwks}.\n` +
    `Its kid is ${printable(kid)}. An entry that trusts it: svc-admin keys entry --public-key ${paths.publicKey} …\n`;
  context.answers.give({ kid, alg, ...paths }, text);
}

const HEADINGS = ['ENTRY', 'LABEL', 'TYPE', 'ISSUER', 'KID OR URL', 'ALGORITHMS', 'AUDIENCE', 'ROLES'];

const POLICY_HEADINGS = ['LABEL', 'POLICY'];

const STATUS_HEADINGS = [
  'ENTRY',
  'URL',
  'STATE',
  'KEYS HELD',
  'LAST SUCCESS',
  'LAST FAILURE',
  'NEXT REFRESH',
];

/** An entry's label, and the address of its key set. */
interface EntryAddress extends JwksAddress {
  readonly label: string;
}

interface CheckOptions {
  file?: string;
  fetch?: true;
}

export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('manage the trusted keys');
  addKeygen(keys, context);
  addEntryCommand(keys, context);
  addCheck(keys, context);
  addStatus(keys, context);
  addRefresh(keys, context);
  addEntryCommands(keys, context);
  addRevocationCommands(keys, context);
}

function addCheck(keys: Command, context: CommandContext): void {
  keys
    .command('check')
    .description('print every problem of the trusted key entries; exits with 1 if there is one')
    .option('--file <file>', 'the JSON array of entries; the configured one if left out')
    .option('--fetch', 'fetch each key set now, and print which of its keys are used; nothing is stored')
    .addHelpText('after', '\nExample:\n  svc-admin keys check --file trusted-keys.json --fetch')
    .action((options: CheckOptions) => check(options, context));
}

async function check({ file, fetch }: CheckOptions, context: CommandContext): Promise<void> {
  const text = file === undefined ? configuredKeys(context) : readTextFile(context, file);
  const rules = rulesOf(context);
  const reading = readTrustedKeys(text, rules);
  const jwksEntries = reading.entries.filter((entry) => entry.type === 'jwks');
  const keySets = fetch === true ? await fetchKeySets(jwksEntries, rules) : undefined;
  const { entries, problems, warnings, notes } = reading;
  const answer = { problems, warnings, notes, entries: entries.map(shownEntry), keySets };
  context.answers.give(answer, checkText(reading, keySets));
  if (problems.length > 0)
    throw new CommandError(`The service would not start with these keys; problems: ${problems.length}.`);
  const useless = keySets?.filter(isUseless) ?? [];
  if (useless.length > 0) throw new CommandError(`Key sets without a usable key: ${useless.length}.`);
}

function checkText(reading: TrustedKeysReading, keySets: readonly FetchedKeySet[] = []): string {
  const { entries } = reading;
  return [
    ...findingLines(reading),
    ...keySets.map(fetchedInWords),
    [renderTable(HEADINGS, entries.map(rowOf)), renderTable(POLICY_HEADINGS, entries.map(policyRow))]
      .filter((table) => table !== '')
      .join('\n'),
  ].join('');
}

function shownEntry(entry: TrustedKeyEntry) {
  const { entryIndex: index, label, type, issuer } = entry;
  const keys =
    entry.type === 'jwks'
      ? { url: toJwksAddress(entry.url).url }
      : { kid: entry.key.kid, algorithms: [...entry.key.algorithms] };
  return { index, entry: label, type, issuer, keys, policy: policyInWords(entry, new Date()) };
}

function addStatus(keys: Command, context: CommandContext): void {
  keys
    .command('status')
    .description('print the fetched keys of each JWKS entry, and when the next fetch is due')
    .addHelpText('after', '\nExample:\n  svc-admin keys status')
    .action(() => status(context));
}

/** Reads what the instances have stored, so it shows the same on every machine. */
async function status(context: CommandContext): Promise<void> {
  const { entries } = readTrustedKeys(configuredKeys(context), rulesOf(context));
  const configured = entries.filter((entry) => entry.type === 'jwks').map(addressOf);
  const states = await keySetStates([...configured, ...(await storedAddresses(context))], context);
  const table = () => renderTable(STATUS_HEADINGS, states.map(statusRow));
  context.answers.giveList(states, table, 'No trusted key entry is of type jwks.');
}

function addressOf({ label, url }: JwksEntry): EntryAddress {
  return { label, ...toJwksAddress(url) };
}

/** Only the service's own database knows of these. */
async function storedAddresses(context: CommandContext): Promise<EntryAddress[]> {
  const listed = await readList(context, LIST_ENTRIES, {});
  return listed.flatMap(({ from, entry: label, keys }) =>
    from === 'command' && keys !== null && 'url' in keys ? [{ label, ...keys }] : [],
  );
}

/** The states of entries, in their order. */
async function keySetStates(addresses: readonly EntryAddress[], context: CommandContext) {
  const urlHashes = addresses.map(({ urlHash }) => urlHash);
  const stored = await readList(context, LIST_KEY_SETS, { urlHashes });
  return addresses.flatMap(({ label, urlHash: wanted, url }) =>
    stored.flatMap(({ urlHash, ...state }) => (urlHash === wanted ? [{ entry: label, url, ...state }] : [])),
  );
}

function statusRow(state: Omit<StoredKeySet, 'urlHash'> & { entry: string; url: string }): string[] {
  const failure =
    state.lastFailure === null ? 'none' : `${state.lastFailure.at} (${state.lastFailure.reason})`;
  const { entry, url, kids, lastSuccess, nextRefresh } = state;
  const held = kids.join(', ') || 'none';
  return [entry, url, stateInWords(state), held, lastSuccess ?? 'never', failure, nextRefresh ?? 'not yet'];
}

function rowOf(entry: TrustedKeyEntry): string[] {
  const { entryIndex, label, type, issuer, expectedAudience } = entry;
  const audience = expectedAudience ?? 'not checked';
  return [String(entryIndex ?? ''), label, type, issuer, ...keyCells(entry), audience, rolesCell(entry)];
}

function policyRow(entry: TrustedKeyEntry): string[] {
  return [entry.label, policyInWords(entry, new Date()).join('; ')];
}

/** The algorithms of fetched keys follow from each key. The query of an address may hold a secret. */
function keyCells(entry: TrustedKeyEntry): [string, string] {
  if (entry.type === 'jwks') return [toJwksAddress(entry.url).url, "by the key's kind"];
  return [entry.key.kid, [...entry.key.algorithms].join(', ')];
}

function rolesCell({ allowedRoles }: TrustPolicy): string {
  if (allowedRoles === undefined) return 'every assignable one';
  return [...allowedRoles].join(', ') || 'none';
}
