// Decides which files `svc-admin init` makes, which it keeps, and which stand in its way; then writes them.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from '../administration/command-error.js';
import { VARIABLES } from '../config/environment.js';
import { ENCRYPTION_KEY_BYTES } from '../config/variable-formats.js';
import { LICENSE_FEATURES, LicenseError, readLicense } from '../config/license.js';
import { trustedKeysRules } from '../instance/startup.js';
import type { Algorithm } from '../token-exchange/plain.js';
import { keyFits, readTrustedKeys, signatureParameters, signCompactJws } from '../token-exchange/plain.js';
import { Clock } from '../platform/clock.js';
import { MEMBER_ROLE } from '../users/role.js';
import { envDifference, envText } from './env-text.js';
import type { InitAnswers } from './init-answers.js';
import { keyTexts, newPrivateKey, privatePem, publicPem } from './key-files.js';
import { codeOf, writeTextFile } from './text-file.js';

const TRIAL_DAYS = 90;
const SECONDS_A_DAY = 86_400;
/** The bits of a file's mode that are not its owner's. */
const OTHERS = 0o077;
/** Scopes of the first partner's access tokens; its sessions have all rights of a member. */
const SCOPES = ['workflow:read', 'workflow:write'];

/** One file, as it is to be. */
export interface PlannedFile {
  /** Absolute. */
  readonly path: string;
  readonly purpose: string;
  readonly text: string;
  readonly isPrivate: boolean;
  readonly state: 'new' | 'kept' | 'in the way';
  /** Why what is there does not fit. */
  readonly reason?: string;
}

export interface PartnerKey {
  readonly alg: Algorithm;
  readonly kid: string;
}

/** How one file is decided. */
interface Draft {
  readonly path: string;
  readonly purpose: string;
  readonly isPrivate?: boolean;
  /** Why a text that is there cannot be kept; undefined where it can. */
  readonly misfit: (text: string) => string | undefined | Promise<string | undefined>;
  readonly make: () => string | Promise<string>;
}

/** Where everything goes, below one folder. */
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
 * Decides about all files, each by those before it; .env comes last. Reads only.
 * @rule D115 `init` creates what a trial needs. It is safe to run again: it overwrites nothing without `--force`.
 */
export async function planFiles(
  answers: InitAnswers,
  key: PartnerKey,
  paths: InitPaths,
): Promise<PlannedFile[]> {
  const files: PlannedFile[] = [];
  const plan = async (draft: Draft) => {
    const file = await decided(draft);
    files.push(file);
    return file.text;
  };
  await planVendor(plan, paths);
  await plan(sealingKeyDraft(paths));
  const partnerPem = await planPartner(plan, key, paths);
  await plan(trustedKeysDraft(firstEntry(answers, key, partnerPem), paths));
  await plan(environmentDraft(answers, paths));
  return files;
}

type Plan = (draft: Draft) => Promise<string>;

/** A trial signs its own licence; a bought one has another public key. */
async function planVendor(plan: Plan, paths: InitPaths): Promise<void> {
  const vendorPem = await plan({
    path: paths.vendorPrivate,
    purpose: 'signs the trial licence, and another one when it has ended',
    isPrivate: true,
    misfit: (pem) => (keyIn(pem)?.asymmetricKeyType === 'ed25519' ? undefined : 'is no Ed25519 private key'),
    make: () => privatePem(generateKeyPairSync('ed25519').privateKey),
  });
  const key = createPrivateKey(vendorPem);
  const vendorPublicPem = await plan({
    path: paths.vendorPublic,
    purpose: 'public key of the trial licence',
    ...exactly(publicPem(createPublicKey(key)), 'is not the public key of vendor.pem'),
  });
  await plan({
    path: paths.license,
    purpose: `trial licence, for ${TRIAL_DAYS} days`,
    misfit: (jws) => licenseMisfit(jws, vendorPublicPem),
    make: () => `${trialLicense(key)}\n`,
  });
}

function trialLicense(key: KeyObject): string {
  const iat = Math.floor(new Clock().nowSeconds());
  const claims = {
    customer: 'Trial',
    features: LICENSE_FEATURES,
    iat,
    exp: iat + TRIAL_DAYS * SECONDS_A_DAY,
  };
  return signCompactJws({ alg: 'EdDSA' }, claims, signatureParameters('EdDSA', key));
}

async function licenseMisfit(jws: string, publicPem: string): Promise<string | undefined> {
  try {
    const license = await readLicense(jws, publicPem);
    if (license.hasEnded(new Clock().nowMs())) return 'has ended';
    return license.features.has('token-exchange') ? undefined : 'does not include token exchange';
  } catch (error) {
    if (error instanceof LicenseError) return error.message;
    throw error;
  }
}

/** A data folder that has been used already has secrets under a key of its own. */
function sealingKeyDraft({ sealingKey, data }: InitPaths): Draft {
  return {
    path: sealingKey,
    purpose: 'seals secrets in the database: without it they are lost',
    isPrivate: true,
    misfit: (text) =>
      'problem' in VARIABLES.encryptionKeys.parse(text.trim())
        ? `is not ${ENCRYPTION_KEY_BYTES} bytes in base64`
        : undefined,
    make: () =>
      textAt(join(data, 'encryption.key')) ?? `${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}\n`,
  };
}

/** @returns the public key */
async function planPartner(plan: Plan, { alg, kid }: PartnerKey, paths: InitPaths): Promise<string> {
  const partnerPem = await plan({
    path: paths.partnerPrivate,
    purpose: "the partner's private key: belongs to its backend alone",
    isPrivate: true,
    misfit(pem) {
      const key = keyIn(pem);
      return key !== undefined && keyFits(createPublicKey(key), alg)
        ? undefined
        : `is no private key for ${alg}`;
    },
    make: () => privatePem(newPrivateKey(alg)),
  });
  const texts = keyTexts(createPrivateKey(partnerPem), kid, alg);
  await plan({
    path: paths.partnerPublic,
    purpose: "the partner's public key",
    ...exactly(texts.publicPem, 'is not the public key of private.pem'),
  });
  await plan({
    path: paths.partnerJwks,
    purpose: 'the public key as a key set, to be published',
    ...exactly(texts.jwks, `is not the key set of private.pem with the kid ${JSON.stringify(kid)}`),
  });
  return texts.publicPem;
}

function trustedKeysDraft(entry: ReturnType<typeof firstEntry>, { trustedKeys }: InitPaths): Draft {
  return {
    path: trustedKeys,
    purpose: 'trusted keys, under the strict policy',
    misfit: (text) => trustMisfit(text, entry),
    make: () => `${JSON.stringify([entry], null, 2)}\n`,
  };
}

function firstEntry(answers: InitAnswers, { alg, kid }: PartnerKey, key: string) {
  const { partnerIssuer: issuer, partnerOrigin, partnerEmailDomain, baseUrl } = answers;
  return {
    ...{ type: 'static', name: 'partner', kid, algorithms: [alg], key, issuer },
    ...{ expectedAudience: baseUrl, origins: [partnerOrigin], allowedRoles: [MEMBER_ROLE] },
    ...{ emailDomains: [partnerEmailDomain], scopes: SCOPES },
  };
}

/** It may hold other entries, and say of this one what it likes, as long as tokens of the key are taken. */
function trustMisfit(
  text: string,
  { issuer, kid, key, expectedAudience: baseUrl }: ReturnType<typeof firstEntry>,
): string | undefined {
  const rules = trustedKeysRules({ jwksAllowHttp: false, jwksAllowPrivate: [], strict: true, baseUrl });
  const { entries, problems } = readTrustedKeys(text, rules);
  if (problems[0] !== undefined) return problems[0];
  const own = entries.find(
    (entry) => entry.type === 'static' && entry.issuer === issuer && entry.key.kid === kid,
  );
  if (own?.type !== 'static') return 'has no entry with this issuer and kid';
  if (!own.key.publicKey.equals(createPublicKey(key))) return 'has another key under this issuer and kid';
  return own.expectedAudience === baseUrl ? undefined : 'expects another audience';
}

function environmentDraft(answers: InitAnswers, paths: InitPaths): Draft {
  const values = environmentOf(answers, paths);
  return {
    path: paths.environment,
    purpose: 'settings of the service',
    isPrivate: true,
    misfit: (text) => envDifference(text, values),
    make: () => envText(values),
  };
}

/** The variables of the service, by their names. */
export function environmentOf(
  { port, baseUrl, databaseUrl }: InitAnswers,
  paths: InitPaths,
): Readonly<Record<string, string>> {
  return {
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
}

/**
 * Removes all access to a private file but its owner's.
 * @returns whether others could have read or changed it
 * @throws CommandError when its mode cannot be changed, for example of another account's file
 */
export function closePrivate({ path, isPrivate, state }: PlannedFile): boolean {
  // Windows has no modes.
  if (!isPrivate || state !== 'kept' || process.platform === 'win32') return false;
  try {
    if ((statSync(path).mode & OTHERS) === 0) return false;
    chmodSync(path, 0o600);
    return true;
  } catch (error) {
    throw new CommandError(
      `${path} can be read by others, and its mode cannot be changed (${codeOf(error)}): chmod 600 it as its owner.`,
    );
  }
}

/**
 * Writes what is new, and what is in the way after that was moved aside.
 * @returns where the former file is, if there was one
 * @throws CommandError when it cannot be written
 */
export function writePlanned({ path, text, isPrivate, state }: PlannedFile): string | undefined {
  if (state === 'kept') return undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const backup = state === 'new' ? undefined : `${path}.${stamp()}.bak`;
    if (backup !== undefined) renameSync(path, backup);
    writeTextFile({ workingDirectory: dirname(path) }, path, text, { isPrivate });
    return backup;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be written (${codeOf(error)})`);
  }
}

async function decided({ path, purpose, isPrivate = false, misfit, make }: Draft): Promise<PlannedFile> {
  const existing = textAt(path);
  const reason = existing === undefined ? undefined : await misfit(existing);
  const file = { path, purpose, isPrivate };
  if (existing === undefined) return { ...file, text: await make(), state: 'new' };
  if (reason === undefined) return { ...file, text: existing, state: 'kept' };
  return { ...file, text: await make(), state: 'in the way', reason };
}

/** Undefined where there is no such file. */
function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new CommandError(`${path} cannot be read (${codeOf(error)})`);
  }
}

function exactly(text: string, reason: string): Pick<Draft, 'misfit' | 'make'> {
  return { misfit: (existing) => (existing.trim() === text.trim() ? undefined : reason), make: () => text };
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function stamp(): string {
  return new Date().toISOString().replace(/[-:.]/g, '');
}
