// svc-admin init: sets up an instance for a trial, up to the first exchanged token, and prints the next commands.
import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/operation.js';
import { partnerEntry, recommended } from '../administration/partners/partner-entry.js';
import { printable } from '../administration/table.js';
import { UserOperations } from '../administration/users/users.operations.js';
import { VARIABLES } from '../config/environment.js';
import { LICENSE_FEATURES } from '../config/license.js';
import { LICENSE_WORDS } from '../config/license-words.js';
import type { Environment } from '../config/load-config.js';
import { ConfigurationError, defaultBaseUrl, readEnvFile } from '../config/load-config.js';
import { parseVariable } from '../config/variable.js';
import { ENCRYPTION_KEY_BYTES } from '../config/variable-formats.js';
import { checkStartup } from '../instance/prepare-startup.js';
import { Clock } from '../platform/clock.js';
import { refuseForeignDirectory } from '../platform/database/embedded/data-directory.js';
import { isEmailAddress } from '../platform/text/email-address.js';
import type { Algorithm } from '../token-exchange/instance.js';
import {
  ALGORITHMS,
  newPrivateKey,
  signatureParameters,
  signCompactJws,
} from '../token-exchange/instance.js';
import { MEMBER_ROLE, OWNER_ROLE } from '../users/role.js';
import { addCommand, perform, readPages, usableKid } from './command.js';
import type { CommandContext } from './command-context.js';
import { CommandSettings, InPlaceError } from './command-context.js';
import type { NewFile } from './files.js';
import { codeOf, keyTexts, privatePem, publicPem, readTextFile, writeFiles } from './files.js';
import type { NextCommand } from './first-requests.js';
import { firstRequests, nextInWords, word } from './first-requests.js';
import { domainOf, PARTNER_CHECKS } from './partners.command.js';
import type { Question } from './terminal.js';
import { answersTo, withProgress } from './terminal.js';

const KID = 'partner-1';

interface InitOptions extends Partial<InitAnswers> {
  readonly dir: string;
  readonly alg: Algorithm;
  readonly kid: string;
  readonly yes?: true;
  readonly force?: true;
}

export function addInitCommand(program: Command, context: CommandContext): void {
  const about = 'set up an instance for a trial; writes settings, licence, keys, a partner and the owner';
  const command = addCommand(program, 'init', about, EXAMPLE, MORE);
  command.option('--dir <folder>', 'folder for all files', '.');
  for (const { flag, about } of QUESTIONS) command.option(flag, about);
  command
    .addOption(
      new Option('--alg <name>', "algorithm of the partner's key").choices(ALGORITHMS).default('ES256'),
    )
    .option('--kid <kid>', "id of the partner's key (`kid`)", usableKid, KID)
    .option('--yes', 'ask nothing: use the options and the defaults, as without a terminal')
    .option(
      '--force',
      'move the files of an earlier init to a folder; keep the sealing key and own lines of .env',
    )
    .action((options: InitOptions) => init(options, command, context));
}

const MORE = `It creates .env, instance/ (licence, keys, trusted keys), partner/ (the private key of a partner) and the owner. If one of these files
exists, it changes nothing and exits with 3.`;
const EXAMPLE = `init --yes --owner-email owner@example.com
  svc-admin init --yes --owner-email owner@example.com --base-url https://instance.example`;

async function init(options: InitOptions, command: Command, context: CommandContext): Promise<void> {
  const { workingDirectory, terminal, answers } = context;
  const directory = resolve(workingDirectory, options.dir);
  const inside = { ...context, workingDirectory: directory };
  if (context.settings.startupSources.envFile !== undefined)
    command.error('error: init writes .env into the folder of --dir. Omit --env-file.');
  const paths = initPaths(directory);
  const seen = (path: string) => pathFrom(workingDirectory, path);
  const inPlace = filesInPlace(paths);
  if (inPlace.length > 0 && options.force !== true)
    throw new InPlaceError(
      'These files exist, so nothing was changed. --force moves them aside and creates new ones:',
      inPlace.map(seen),
    );
  const settings = new CommandSettings(inside, () => undefined);
  const person = options.yes || answers.isJson ? undefined : terminal;
  const answered = await answersTo(QUESTIONS, {
    given: options,
    settings,
    terminal: person,
    refuse: (message) => command.error(`error: ${message}`),
  });
  const environment = environmentOf(answered, paths, readEnvFile(paths.environment, false));
  const key = { alg: options.alg, kid: options.kid };
  const sealingKeys = sealingKeysOf(settings, paths);
  const planned = planFiles(answered, key, paths, { sealingKeys, environment });
  if (answered.databaseUrl === '') refuseForeignData(paths.data);
  const backup = inPlace.length === 0 ? undefined : seen(moveAside(directory, inPlace));
  const surroundings = asStarted(environment, inside);
  const { owner, warnings } = await settle(planned, answered.ownerEmail, surroundings);
  const files = planned.map(({ path, purpose }) => ({ path: seen(path), purpose }));
  const next = nextCommands(answered, key, paths, workingDirectory);
  const settled = { files, backup, owner, warnings, next };
  answers.give(settled, textOf(settled));
}

/** Runs before anything is written. @throws CommandError if the folder of the embedded database belongs to another account */
function refuseForeignData(directory: string): void {
  try {
    refuseForeignDirectory(directory);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

/** Paths are relative to the working directory. */
interface Settled {
  readonly files: readonly Pick<PlannedFile, 'path' | 'purpose'>[];
  /** The folder that the earlier files were moved to. */
  readonly backup?: string;
  readonly owner: Owner;
  readonly warnings: readonly string[];
  readonly next: readonly NextCommand[];
}

interface Owner {
  readonly id: string;
  readonly email: string;
  readonly state: 'created' | 'kept';
}

/** Reads the configured sealing keys, or those of an earlier `init`. */
function sealingKeysOf(settings: CommandSettings, paths: InitPaths): readonly Buffer[] {
  const { encryptionKeys } = settings.read('encryptionKeys');
  return encryptionKeys.length > 0 ? encryptionKeys : sealingKeysIn(paths);
}

/** Writes the files and creates the owner. `.env` is written last, so an interrupted init leaves no `.env`. */
async function settle(planned: readonly PlannedFile[], ownerEmail: string, surroundings: CommandContext) {
  writeFiles(surroundings, planned.slice(0, -1), { withFolder: true });
  const { problems, warnings } = await checkStartup(surroundings.settings.startupSources);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const settling = settledOwner(ownerEmail, surroundings);
  const owner = await withProgress(surroundings, 'Preparing the database', settling);
  writeFiles(surroundings, planned.slice(-1), { withFolder: true });
  return { owner, warnings };
}

/** The variables that the service will read: its environment overrides .env, by a value or by a file. */
function asStarted(values: Environment, context: CommandContext): CommandContext {
  const given = new Set(Object.keys(context.environment).map(variableOf));
  const others = Object.entries(values).filter(([name]) => !given.has(variableOf(name)));
  const environment = { ...Object.fromEntries(others), ...context.environment };
  const started = { ...context, environment };
  return { ...started, settings: new CommandSettings(started, () => undefined) };
}

/** Keeps an existing owner: an instance has at most one. */
async function settledOwner(email: string, context: CommandContext): Promise<Owner> {
  for await (const page of readPages(context, UserOperations, 'list', {})) {
    const owner = page.find(({ role }) => role === OWNER_ROLE);
    if (owner !== undefined) return { id: owner.id, email: owner.email, state: 'kept' };
  }
  const newUser = { email, givenName: '', familyName: '', role: OWNER_ROLE } as const;
  return { ...(await perform(context, UserOperations, 'create', newUser)), state: 'created' };
}

/** Returns a relative path if it is below the working directory. */
function pathFrom(workingDirectory: string, path: string): string {
  const short = relative(workingDirectory, path);
  return short.startsWith('..') ? path : short;
}

function textOf({ files, backup, owner, warnings, next }: Settled): string {
  const width = Math.max(...files.map(({ path }) => path.length));
  const lines = [
    ...files.map(({ path, purpose }) => `created   ${path.padEnd(width)}  ${purpose}`),
    ...(backup === undefined ? [] : [`moved     ${backup.padEnd(width)}  the earlier files`]),
    `${owner.state.padEnd(8)}  ${'owner'.padEnd(width)}  ${owner.email}`,
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
    LICENSE_WORDS,
    ...nextInWords(next),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/** @param workingDirectory the folder in which the commands will be typed */
function nextCommands(
  { port, baseUrl, partnerIssuer, partnerEmailDomain }: InitAnswers,
  { kid }: PartnerKey,
  paths: InitPaths,
  workingDirectory: string,
): NextCommand[] {
  const seen = (absolute: string) => pathFrom(workingDirectory, absolute);
  // The service reads `.env` of the working folder without an option.
  const isHere = relative(workingDirectory, paths.environment) === '.env';
  const envFile = isHere ? '' : ` --env-file ${word(seen(paths.environment))}`;
  return [
    {
      command: `npx embedded-token-exchange${envFile}`,
      does: 'start the service; the rest in another terminal',
    },
    { command: `npx svc-admin${envFile} keys check`, does: 'list the trusted keys and what each may do' },
    ...firstRequests({
      keyFile: seen(paths.partnerPrivate),
      kid,
      issuer: partnerIssuer,
      audience: baseUrl,
      emailDomain: partnerEmailDomain,
      address: `http://localhost:${port}`,
    }),
  ];
}

/** Strings as they are typed. Each question checks its own. */
interface InitAnswers {
  readonly ownerEmail: string;
  readonly port: string;
  readonly baseUrl: string;
  /** Empty for the embedded database. */
  readonly databaseUrl: string;
  readonly partnerIssuer: string;
  readonly partnerOrigin: string;
  readonly partnerEmailDomain: string;
}

type InitQuestion = Question<InitAnswers, CommandSettings>;

/** In the order of asking: a default may depend on an earlier answer. */
export const QUESTIONS: readonly InitQuestion[] = [
  {
    name: 'ownerEmail',
    flag: '--owner-email <address>',
    about: 'e-mail address of the owner of the instance',
    standard: () => undefined,
    check: (text) => (isEmailAddress(text) ? undefined : 'must be an e-mail address'),
  },
  {
    name: 'port',
    flag: '--port <number>',
    about: 'TCP port to listen on',
    standard: (_known, settings) => String(settings.read('port').port),
    check: (text) => (text === '0' ? 'must be from 1 to 65535' : ruleOf(parseVariable(VARIABLES.port, text))),
  },
  {
    name: 'baseUrl',
    flag: '--base-url <url>',
    about: 'public address of the instance',
    standard: standardBaseUrl,
    check: (text) => ruleOf(parseVariable(VARIABLES.baseUrl, text)),
  },
  {
    name: 'databaseUrl',
    flag: '--database-url <url>',
    about: 'PostgreSQL connection URL; empty for the embedded database',
    standard: (_known, settings) => settings.read('databaseUrl').databaseUrl ?? '',
    check: (text) => (text === '' ? undefined : ruleOf(parseVariable(VARIABLES.databaseUrl, text))),
  },
  {
    name: 'partnerIssuer',
    flag: '--partner-issuer <url>',
    about: 'issuer of the tokens of the first partner',
    standard: () => 'https://partner.example',
    check: PARTNER_CHECKS.issuer,
  },
  {
    name: 'partnerOrigin',
    flag: '--partner-origin <origin>',
    about: 'origin of the pages of that partner, which may frame the instance',
    standard: () => 'http://localhost:3000',
    check: PARTNER_CHECKS.origin,
  },
  {
    name: 'partnerEmailDomain',
    flag: '--partner-email-domain <domain>',
    about: 'domain of the e-mail addresses of its users',
    standard: ({ partnerIssuer = '' }) => domainOf(partnerIssuer),
    check: PARTNER_CHECKS.emailDomain,
  },
];

/** The configured base address, or one that follows from the port. */
function standardBaseUrl({ port = '' }: Partial<InitAnswers>, settings: CommandSettings): string {
  const config = settings.read('baseUrl', 'port', 'tlsCertificate');
  const isComputed = config.baseUrl === defaultBaseUrl(config);
  return isComputed ? defaultBaseUrl({ ...config, port: Number(port) }) : config.baseUrl;
}

function ruleOf(parsed: { value: unknown } | { problem: string }): string | undefined {
  return 'problem' in parsed ? parsed.problem : undefined;
}

const TRIAL_DAYS = 90;
const SECONDS_A_DAY = 86_400;

/** Its path is absolute. */
interface PlannedFile extends NewFile {
  readonly purpose: string;
}

interface PartnerKey {
  readonly alg: Algorithm;
  readonly kid: string;
}

/** The paths of all files, below one folder. */
function initPaths(directory: string) {
  const instance = join(directory, 'instance');
  const partner = join(directory, 'partner');
  return {
    environment: join(directory, '.env'),
    data: join(directory, 'data'),
    vendorPrivate: join(instance, 'vendor.pem'),
    vendorPublic: join(instance, 'vendor.pub.pem'),
    license: join(instance, 'license.jws'),
    sealingKey: join(instance, 'encryption.key'),
    trustedKeys: join(instance, 'trusted-keys.json'),
    partnerPrivate: join(partner, 'private.pem'),
    partnerPublic: join(partner, 'public.pem'),
    partnerJwks: join(partner, 'jwks.json'),
  };
}

type InitPaths = ReturnType<typeof initPaths>;

/**
 * Writes all files. `.env` comes last. `--force` first moves existing files aside.
 */
function planFiles(
  answers: InitAnswers,
  key: PartnerKey,
  paths: InitPaths,
  { sealingKeys, environment }: { sealingKeys: readonly Buffer[]; environment: Record<string, string> },
): PlannedFile[] {
  const {
    privatePem: privateKey,
    publicPem: publicKey,
    jwks,
  } = keyTexts(newPrivateKey(key.alg), key.kid, key.alg);
  const sealing = sealingKeys.length > 0 ? sealingKeys : [randomBytes(ENCRYPTION_KEY_BYTES)];
  const sealingText = sealing.map((each) => each.toString('base64')).join(',');
  const entries = [firstEntry(answers, key, publicKey)];
  return [
    ...vendorFiles(paths),
    secret(paths.sealingKey, 'seals secrets in the database: without it they are lost', `${sealingText}\n`),
    secret(paths.partnerPrivate, "the partner's private key: belongs to its backend alone", privateKey),
    open(paths.partnerPublic, "the partner's public key", publicKey),
    open(paths.partnerJwks, 'the public key as a key set, which a partner publishes', jwks),
    open(
      paths.trustedKeys,
      'trusted key entries, under the strict policy',
      `${JSON.stringify(entries, null, 2)}\n`,
    ),
    secret(paths.environment, 'settings of the service', envText(environment)),
  ];
}

function open(path: string, purpose: string, text: string): PlannedFile {
  return { path, purpose, text };
}

function secret(path: string, purpose: string, text: string): PlannedFile {
  return { path, purpose, text, isPrivate: true };
}

/** A trial signs its own licence; a bought one has another public key. */
function vendorFiles(paths: InitPaths): PlannedFile[] {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privatePem(privateKey);
  return [
    secret(paths.vendorPrivate, 'signs the trial licence and later licences', pem),
    open(paths.vendorPublic, 'public key of the trial licence', publicPem(publicKey)),
    open(paths.license, `trial licence, for ${TRIAL_DAYS} days`, `${trialLicense(privateKey)}\n`),
  ];
}

function trialLicense(key: KeyObject): string {
  const iat = Math.floor(new Clock().nowSeconds());
  const claims = { features: LICENSE_FEATURES, iat, exp: iat + TRIAL_DAYS * SECONDS_A_DAY };
  return signCompactJws({ alg: 'EdDSA' }, claims, signatureParameters('EdDSA', key));
}

function firstEntry(answers: InitAnswers, { alg, kid }: PartnerKey, key: string) {
  const { partnerIssuer: issuer, partnerOrigin, partnerEmailDomain, baseUrl } = answers;
  return partnerEntry(
    { type: 'static', kid, algorithms: [alg], key },
    {
      ...{ name: 'partner', issuer, emailDomains: [partnerEmailDomain] },
      ...{ role: MEMBER_ROLE, origins: [partnerOrigin], projects: [] },
    },
    recommended(baseUrl),
  );
}

/**
 * The service's variables by name.
 * @param former variables of an existing `.env`; those that are not set here are kept
 */
export function environmentOf(
  { port, baseUrl, databaseUrl }: InitAnswers,
  paths: InitPaths,
  former: Environment,
): Record<string, string> {
  const written = {
    [VARIABLES.featureFlag.name]: 'true',
    [`${VARIABLES.license.name}_FILE`]: paths.license,
    [`${VARIABLES.licensePublicKey.name}_FILE`]: paths.vendorPublic,
    [VARIABLES.strict.name]: 'true',
    [VARIABLES.exchangeEnabled.name]: 'true',
    [VARIABLES.embedLoginEnabled.name]: 'true',
    [`${VARIABLES.trustedKeys.name}_FILE`]: paths.trustedKeys,
    [VARIABLES.baseUrl.name]: baseUrl,
    [VARIABLES.port.name]: port,
    ...(databaseUrl === ''
      ? { [VARIABLES.dataDirectory.name]: paths.data }
      : { [VARIABLES.databaseUrl.name]: databaseUrl }),
    [`${VARIABLES.encryptionKeys.name}_FILE`]: paths.sealingKey,
  };
  const { dataDirectory, databaseUrl: url } = VARIABLES;
  const known = new Set([...Object.keys(written).map(variableOf), dataDirectory.name, url.name]);
  const own = Object.entries(former).flatMap(([name, value]) =>
    value === undefined || known.has(variableOf(name)) ? [] : [[name, value]],
  );
  return { ...written, ...Object.fromEntries(own) } as Record<string, string>;
}

/** The variable that is set, by a value or by a file. */
function variableOf(name: string): string {
  return name.replace(/_FILE$/, '');
}

/** The sealing keys of a folder without settings: an interrupted run, or the embedded database alone. */
function sealingKeysIn({ sealingKey, data }: InitPaths): readonly Buffer[] {
  const path = [sealingKey, join(data, 'encryption.key')].find(existsSync);
  if (path === undefined) return [];
  const text = readTextFile({ workingDirectory: '.' }, path).trim();
  const parsed = parseVariable(VARIABLES.encryptionKeys, text);
  if ('value' in parsed) return parsed.value;
  throw new CommandError(`${path}: ${parsed.problem}`);
}

/** @returns the files that exist */
function filesInPlace({ data: _database, ...files }: InitPaths): string[] {
  return Object.values(files).filter(existsSync);
}

/**
 * Moves files into a new folder next to them, all or none.
 * @returns the new folder
 * @throws CommandError if a file cannot be moved
 */
function moveAside(directory: string, paths: readonly string[]): string {
  const backup = join(directory, `before-${new Date().toISOString().replace(/[-:.]/g, '')}`);
  for (const path of paths) {
    const target = join(backup, relative(directory, path));
    try {
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      renameSync(path, target);
    } catch (error) {
      throw new CommandError(`${path} cannot be moved to ${target} (${codeOf(error)})`);
    }
  }
  return backup;
}

/** Matches strings that need no quotes in the service, a shell or Docker. */
const PLAIN = /^[\w./:@%+=,-]*$/;
const QUOTES = ["'", '"', '`'];

function envText(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}\n`);
  return `# Created by svc-admin init. docs/reference/settings.md describes all variables.\n${lines.join('')}`;
}

/** Each kind of quotes keeps everything except itself. Double quotes turn `\n` into a line break, so they come second. */
function quoted(value: string): string {
  if (PLAIN.test(value)) return value;
  const quote = QUOTES.find((each) => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}
