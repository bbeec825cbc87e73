// svc-admin keys: creates keys and entries, stores and changes entries while the service runs, and revokes keys.
import type { Command } from 'commander';
import { Option } from 'commander';
import type { ChangedEntry, ListedEntry } from '../administration/entries/entries.operations.js';
import {
  configuredEntries,
  EntryListOperations,
  EntryOperations,
} from '../administration/entries/entries.operations.js';
import type { EntryKeySet, Refreshed } from '../administration/keys/key-sets.operations.js';
import {
  fetchedInWords,
  fetchKeySets,
  KeySetOperations,
  LONGEST_WAIT_SECONDS,
  storedKeySetInWords,
} from '../administration/keys/key-sets.operations.js';
import type { ChosenKeys, ListedRevocation } from '../administration/keys/keys.operations.js';
import { RevocationOperations, SigningKeyOperations } from '../administration/keys/keys.operations.js';
import { CommandError } from '../administration/operation.js';
import { findingLines, printable, quoted, renderTable, tableOf } from '../administration/table.js';
import { ConfigurationError } from '../config/load-config.js';
import { SCHEMA } from '../instance/schema.js';
import { hasDatabase } from '../platform/database/embedded/data-directory.js';
import { counted } from '../platform/text/wording.js';
import type { Algorithm } from '../token-exchange/instance.js';
import { ALGORITHMS, newPrivateKey, readTrustedKeys } from '../token-exchange/instance.js';
import { addCommand, addOperation, jsonMember, perform, usableKid, wholeNumber } from './command.js';
import { instanceDatabase, rulesOf } from './command.module.js';
import type { CommandContext } from './command-context.js';
import { MisuseError, reasonOf } from './command-context.js';
import { defaultKid, keyTexts, readJsonFile, readTextFile, staticKey, writeFiles } from './files.js';

const DEFAULT_WAIT_SECONDS = 20;
const ISSUER = ['--issuer <url>', 'the `iss` of its tokens, exactly'] as const;
const ENTRY = {
  name: ['<name>', 'the stored entry, as `keys list` prints it or without `stored:`'],
} as const;

export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('manage the trusted keys');
  addKeygen(keys, context);
  addCheck(keys, context);
  addKeySets(keys, context);
  addEntries(keys, context);
  addSwitches(keys, context);
  addRevocations(keys, context);
  addSigningKeys(keys, context);
}

function addKeySets(keys: Command, context: CommandContext): void {
  addOperation(keys, context, KeySetOperations, 'list', {
    about: 'print fetched keys and next fetches',
    nothing: 'No trusted key entry is of type jwks.',
    text: tableOf<EntryKeySet>(
      ['ENTRY', 'URL', 'STATE', 'KEYS HELD', 'LAST SUCCESS', 'LAST FAILURE', 'NEXT REFRESH'],
      ({ entry, url, kids, lastSuccess, lastFailure, nextRefresh, ...set }) => {
        const failure = lastFailure === null ? 'none' : `${lastFailure.at} (${lastFailure.reason})`;
        const times = [lastSuccess ?? 'never', failure, nextRefresh ?? 'not yet'];
        return [entry, url, storedKeySetInWords(set), kids.join(', ') || 'none', ...times];
      },
    ),
  });
  addOperation(keys, context, KeySetOperations, 'refresh', {
    about: 'fetch key sets now; exits with 1 if a fetch fails or brings no usable key',
    takes: { entry: ['[entry]', 'the entry, by its name; every entry of type jwks if left out'] },
    example: 'acme',
    text: tableOf<Refreshed>(
      ['ENTRY', 'URL', 'OUTCOME', 'STATE', 'KEYS HELD'],
      ({ entry, url, fetched, failure, state, kids, ...set }) => {
        const outcome = fetched === null ? 'not tried' : fetched ? 'fetched' : `failed: ${failure ?? ''}`;
        const held = kids.join(', ') || 'none';
        return [
          entry,
          url,
          outcome,
          state === null ? 'not known' : storedKeySetInWords({ state, ...set }),
          held,
        ];
      },
    ),
    doing: () => 'Waiting for the key sets',
    after: (all, { wait }) => refuseMissing(all, wait),
  }).option(
    '--wait <seconds>',
    'how long to wait for the results',
    wholeNumber(1, LONGEST_WAIT_SECONDS),
    DEFAULT_WAIT_SECONDS,
  );
}

function addEntries(keys: Command, context: CommandContext): void {
  addOperation(keys, context, EntryListOperations, 'list', {
    about: 'list configured and stored entries with their permissions',
    example: '--json',
    nothing: 'There is no trusted key entry.',
    text: entriesText,
  });
  addOperation(keys, context, EntryOperations, 'show', {
    about: 'print a stored entry as JSON; secrets are hashes',
    takes: ENTRY,
    example: 'acme > acme.json',
    text: ({ definition }) => `${JSON.stringify(definition, null, 2)}\n`,
  });
  addAdd(keys, context);
  addPolicy(keys, context);
}

function changeText(changed: ChangedEntry, outcome: string): string {
  const { name, policy } = changed;
  const done = `The entry ${quoted(name)} ${outcome}: ${printable(policy.join('; '))}.\n`;
  return [...findingLines(changed), done].join('');
}

function addSwitches(keys: Command, context: CommandContext): void {
  addOperation(keys, context, EntryOperations, 'suspend', {
    about: 'refuse new tokens of a stored entry; issued access tokens and sessions stay valid',
    ...switching('is suspended', 'was already suspended'),
  });
  addOperation(keys, context, EntryOperations, 'resume', {
    about: 'accept tokens of a suspended entry again',
    ...switching('is trusted again', 'was not suspended'),
  });
  addOperation(keys, context, EntryOperations, 'remove', {
    about: 'remove a stored entry; issued access tokens and sessions stay valid',
    ...switching('is removed'),
  });
}

/**
 * @param outcome what happened to the entry
 * @param already printed if nothing changed
 */
function switching(outcome: string, already = outcome) {
  return {
    takes: ENTRY,
    example: 'acme',
    text: ({ changed }: ChangedEntry, { name }: { readonly name: string }) =>
      `The entry ${quoted(name)} ${changed ? `${outcome}, everywhere within 10 seconds` : already}.\n`,
    json: ({ changed }: ChangedEntry, { name }: { readonly name: string }) => ({ name, changed }),
  };
}

function addRevocations(keys: Command, context: CommandContext): void {
  addOperation(keys, context, RevocationOperations, 'revoke', {
    about: 'revoke a key, its sessions and its access tokens; refused until it is restored',
    more:
      'Its access tokens and sessions end on every instance within 10 seconds, for good. The key need not be configured,\n' +
      'so check the spelling: `keys revocations` shows what is revoked.',
    example: '--issuer https://partner.example --kid 2026-11',
    text: ({ revokedAt }, keys) =>
      `Revoked at ${revokedAt}: ${keysInWords(keys)}. Sessions and access tokens from its tokens end on every instance within 10 seconds.\n`,
    json: ({ revokedAt }, keys) => ({ ...keys, revokedAt }),
    after: (_revoked, chosen) => hintAt(chosen, context),
  })
    .requiredOption(...ISSUER)
    .option('--kid <kid>', 'one key; every key of the issuer if left out');
  addOperation(keys, context, RevocationOperations, 'restore', {
    about: 'trust a revoked key again, for new access tokens and sessions only',
    example: '--issuer https://partner.example --kid 2026-11',
    text: ({ stillRevoked: kids }, { issuer, kid: restored }) =>
      [
        `Restored: ${keysInWords({ issuer, kid: restored })}. Access tokens and sessions from before stay ended.\n`,
        ...kids.map((kid) => `Still revoked: ${keysInWords({ issuer, kid })}.\n`),
      ].join(''),
    json: ({ stillRevoked: kids }, keys) => ({ ...keys, stillRevoked: kids }),
  })
    .requiredOption(...ISSUER)
    .option('--kid <kid>', 'the key; if left out, the revocation of every key');
  addOperation(keys, context, RevocationOperations, 'list', {
    about: 'list present and former revocations',
    nothing: 'Nothing is revoked.',
    text: tableOf<ListedRevocation>(
      ['ISSUER', 'KID', 'STATE', 'REVOKED', 'RESTORED'],
      ({ issuer, kid, ...times }) => {
        const { revokedAt, restoredAt } = times;
        const state = restoredAt === null ? 'revoked' : 'restored';
        return [issuer, kid ?? 'every key', state, revokedAt, restoredAt ?? '-'];
      },
    ),
  });
}

function addSigningKeys(keys: Command, context: CommandContext): void {
  addOperation(keys, context, SigningKeyOperations, 'rotate', {
    about: 'replace the key that signs access tokens; issued ones stay valid',
    more:
      'The successor is published two hours before it signs, so that services that cache the key set know it by then.\n' +
      'If the present key has leaked, use `keys revoke-signing`.',
    text: ({ signsFrom }) =>
      `The next signing key signs from ${signsFrom}. Running services publish it within 10 seconds. ` +
      'Access tokens of the present key stay valid until they expire.\n',
  });
  addOperation(keys, context, SigningKeyOperations, 'revoke', {
    about: 'replace the signing keys, and end all access tokens',
    more:
      'Use it if a signing key has leaked. Sessions stay valid. Services that verify tokens themselves accept tokens of a\n' +
      'deleted key until they fetch the key set again, at most an hour if they obey its Cache-Control: restart them.',
    text: () =>
      'Every signing key is deleted. All access tokens issued so far end on every instance within 10 seconds, and a new key ' +
      'signs. Restart services that verify tokens themselves: they may have the old key set for an hour.\n',
  });
}

function keysInWords({ issuer, kid }: ChosenKeys): string {
  return printable(kid === null ? `every key of ${issuer}` : `the key ${kid} of ${issuer}`);
}

interface KeygenOptions {
  readonly alg: Algorithm;
  readonly out: string;
  readonly kid?: string;
  readonly force?: boolean;
}

function addKeygen(keys: Command, context: CommandContext): void {
  addCommand(
    keys,
    'keygen',
    "create a partner's key pair; the private key belongs to the partner alone",
    'keys keygen --alg ES256 --kid 2026-11 --out partner.pem',
    'The public key and a key set of it (JWKS) are written next to the private key: FILE.pub.pem and FILE.jwks.json.',
  )
    .addOption(new Option('--alg <name>', 'algorithm of its tokens').choices(ALGORITHMS).default('ES256'))
    .option('--out <file>', 'file for the private key; readable by its owner only', 'partner.pem')
    .option('--kid <kid>', '`kid` of the key; its thumbprint (RFC 7638) if left out', usableKid)
    .option('--force', 'replace existing files')
    .action((options: KeygenOptions) => keygen(options, context));
}

async function keygen({ alg, out, kid: given, force }: KeygenOptions, context: CommandContext) {
  const stem = out.replace(/\.pem$/, '');
  const paths = { privateKey: out, publicKey: `${stem}.pub.pem`, jwks: `${stem}.jwks.json` };
  const privateKey = newPrivateKey(alg);
  const kid = given ?? (await defaultKid(privateKey));
  const { privatePem, publicPem, jwks } = keyTexts(privateKey, kid, alg);
  const files = [
    { path: paths.privateKey, text: privatePem, isPrivate: true },
    { path: paths.publicKey, text: publicPem },
    { path: paths.jwks, text: jwks },
  ];
  writeFiles(context, files, { force });
  const text =
    `The private key is in ${paths.privateKey}, the public key in ${paths.publicKey} and, as a key set, in ${paths.jwks}.\n` +
    `Its kid is ${printable(kid)}. An entry that trusts it: svc-admin partners add --public-key ${paths.publicKey}\n`;
  context.answers.give({ kid, alg, ...paths }, text);
}

function refuseMissing(all: readonly Refreshed[], waitSeconds: number): void {
  const failed = all.filter(({ state }) => state !== 'held').length;
  if (all.some(({ fetched }) => fetched === null))
    throw new CommandError(
      `No service fetched within ${waitSeconds} seconds. A service with token exchange and these entries must be running.`,
    );
  if (failed > 0) throw new CommandError(`Key sets that were not fetched or have no usable key: ${failed}.`);
}

interface AddOptions {
  readonly file?: string;
  readonly like?: string;
  readonly key?: string;
  readonly kid?: string;
  readonly name?: string;
}

function addAdd(keys: Command, context: CommandContext): void {
  addOperation(keys, context, EntryOperations, 'add', {
    about: 'store a trusted key entry; every instance trusts it within 10 seconds, without a restart',
    example: '--file entry.json\n  svc-admin keys add --like acme --key new.pub.pem --kid 2027-01',
    text: (changed) => changeText(changed, 'is stored, and trusted everywhere within 10 seconds'),
    input: (typed: AddOptions) => newEntry(typed, context),
  })
    .option('--file <file>', 'one entry as JSON, with a name; - reads standard input')
    .option(
      '--like <entry>',
      'an entry with a static key, stored or configured: the new entry gets all of it but key and kid; needs --key',
    )
    .option('--key <file>', "with --like: the partner's new public key, PEM or JWK")
    .option(
      '--kid <kid>',
      "with --like: the `kid` of its tokens; the JWK's, or the key's thumbprint, if left out",
    )
    .option('--name <name>', 'with --like: name of the new entry; by default the other name with -2');
}

async function newEntry({ file, like, key, kid, name }: AddOptions, context: CommandContext) {
  if (file !== undefined && [like, key, kid, name].every((option) => option === undefined))
    return { entry: readJsonFile(context, file, 'one entry') };
  if (file !== undefined || like === undefined || key === undefined)
    throw new MisuseError('Give either --file, or --like and --key.');
  // The algorithms stay those of the other entry.
  const { algorithms: _fitting, ...ownKey } = await staticKey(key, kid, context);
  return { entry: { name: name ?? `${like.replace(/^stored:/, '')}-2`, ...ownKey }, like };
}

interface PolicyOptions {
  readonly name: string;
  readonly set?: readonly [string, unknown][];
  readonly unset?: readonly string[];
  readonly file?: string;
}

function addPolicy(keys: Command, context: CommandContext): void {
  addOperation(keys, context, EntryOperations, 'changePolicy', {
    about: 'change the policy of a stored entry',
    takes: ENTRY,
    example: 'acme --set \'allowedRoles=["global:member"]\' --unset notAfter',
    text: (changed) =>
      changeText(
        changed,
        changed.changed ? 'is changed, everywhere within 10 seconds' : 'already had this policy',
      ),
    async input({ name, ...options }: PolicyOptions) {
      const edit = editOf(options, context);
      const { definition, revision } = await perform(context, EntryOperations, 'show', { name });
      return { name, entry: edit(definition), revision };
    },
  })
    .option('--set <member=json>', 'set a property; repeatable', jsonMember)
    .option('--unset <member>', 'remove a property; repeatable', collected)
    .option('--file <file>', 'the whole new entry, as JSON; - reads standard input');
}

type Entry = Readonly<Record<string, unknown>>;

function editOf({ set = [], unset = [], file }: Omit<PolicyOptions, 'name'>, context: CommandContext) {
  const isByMember = set.length + unset.length > 0;
  if (isByMember === (file !== undefined)) throw new MisuseError('Give either --set and --unset, or --file.');
  const both = unset.find((member) => set.some(([name]) => name === member));
  if (both !== undefined)
    throw new MisuseError(`--set and --unset both have ${JSON.stringify(both)}. Use one of them.`);
  if (file === undefined) return (entry: Entry) => edited(entry, Object.fromEntries(set), unset);
  const whole = readJsonFile(context, file, 'one entry');
  return () => whole;
}

/** @throws CommandError if a property to be removed does not exist */
function edited(entry: Entry, set: Entry, unset: readonly string[]): Entry {
  const problems = unset
    .filter((member) => entry[member] === undefined)
    .map((member) => `${JSON.stringify(member)}: is not set`);
  if (problems.length > 0) throw new CommandError('The policy was not changed:', problems);
  return Object.fromEntries(
    Object.entries({ ...entry, ...set }).filter(([member]) => !unset.includes(member)),
  );
}

function collected(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}

/** Warns of a possibly misspelt issuer or kid. This is only a warning, because the key's entry may have been removed. */
async function hintAt({ issuer, kid }: ChosenKeys, context: CommandContext): Promise<void> {
  const entries = await listedEntries(context);
  const ofIssuer = entries.filter((entry) => entry.issuer === issuer);
  const isKnown = ofIssuer.some(
    ({ keys }) => keys !== null && ('url' in keys || kid === null || keys.kid === kid),
  );
  // An unreadable entry may name the key.
  if (entries.length === 0 || isKnown || entries.some((entry) => entry.issuer === null)) return;
  const hint =
    ofIssuer.length === 0
      ? 'no trusted key entry has this issuer; is it spelt as in the tokens?'
      : 'no trusted key entry of this issuer has this kid; is it spelt as in the tokens?';
  context.answers.remark(`warning: ${hint}`);
}

/** Only the hint needs the configuration. The key is revoked without it. */
async function listedEntries(context: CommandContext): Promise<readonly ListedEntry[]> {
  try {
    return await perform(context, EntryListOperations, 'list', {});
  } catch {
    return [];
  }
}

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

function addCheck(keys: Command, context: CommandContext): void {
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

/**
 * The text of the configured entries. It may be missing if there are stored entries.
 * @throws CommandError if there is no entry at all
 */
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
