// Writes the files of `svc-admin init`, and moves those of an earlier run aside.
import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CommandError } from '../administration/command-error.js';
import { partnerEntry, recommended } from '../administration/partners/partner-entry.js';
import { VARIABLES } from '../config/environment.js';
import { LICENSE_FEATURES } from '../config/license.js';
import type { Environment } from '../config/load-config.js';
import { parseVariable } from '../config/variable.js';
import { ENCRYPTION_KEY_BYTES } from '../config/variable-formats.js';
import { Clock } from '../platform/clock.js';
import type { Algorithm } from '../token-exchange/instance.js';
import { newPrivateKey, signatureParameters, signCompactJws } from '../token-exchange/instance.js';
import { MEMBER_ROLE } from '../users/role.js';
import type { NewFile } from './files.js';
import { codeOf, keyTexts, privatePem, publicPem, readTextFile } from './files.js';
import type { InitAnswers } from './init-answers.js';

const TRIAL_DAYS = 90;
const SECONDS_A_DAY = 86_400;

/** Its path is absolute. */
export interface PlannedFile extends NewFile {
  readonly purpose: string;
}

export interface PartnerKey {
  readonly alg: Algorithm;
  readonly kid: string;
}

/** The paths of all files, below one folder. */
export function initPaths(directory: string) {
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

export type InitPaths = ReturnType<typeof initPaths>;

/**
 * Writes all files. `.env` comes last. `--force` first moves existing files aside.
 */
export function planFiles(
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
export function variableOf(name: string): string {
  return name.replace(/_FILE$/, '');
}

/** The sealing keys of a folder without settings: an interrupted run, or the embedded database alone. */
export function sealingKeysIn({ sealingKey, data }: InitPaths): readonly Buffer[] {
  const path = [sealingKey, join(data, 'encryption.key')].find(existsSync);
  if (path === undefined) return [];
  const text = readTextFile({ workingDirectory: '.' }, path).trim();
  const parsed = parseVariable(VARIABLES.encryptionKeys, text);
  if ('value' in parsed) return parsed.value;
  throw new CommandError(`${path}: ${parsed.problem}`);
}

/** @returns the files that exist */
export function filesInPlace({ data: _database, ...files }: InitPaths): string[] {
  return Object.values(files).filter(existsSync);
}

/**
 * Moves files into a new folder next to them, all or none.
 * @returns the new folder
 * @throws CommandError if a file cannot be moved
 */
export function moveAside(directory: string, paths: readonly string[]): string {
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

/** Variables as an env file. */
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
