// Everything that is checked before Nest starts: configuration, licence and trusted keys, with all problems at once.
import { join } from 'node:path';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { auditProblems } from '../audit/sinks/sink-settings.js';
import {
  ConfigurationError,
  defaultBaseUrl,
  labelOf,
  pathHint,
  readConfig,
  readEnvFile,
} from '../config/load-config.js';
import { VARIABLES } from '../config/environment.js';
import { ENCRYPTION_KEY_BYTES, NEW_ENCRYPTION_KEY } from '../config/variable-formats.js';
import { License, LicenseError, readLicense } from '../config/license.js';
import type { Config, ConfigReading, Environment } from '../config/load-config.js';
import type { Startup } from '../config/startup.js';
import { readTlsIdentity } from '../config/tls-identity.js';
import type { DatabaseSettings } from '../platform/database/data-source.js';
import type { TrustedKeysReading, TrustedKeysRules } from '../token-exchange/instance.js';
import { readTrustedKeys } from '../token-exchange/instance.js';
import { ADMIN_ROLE, ASSIGNABLE_ROLES, OWNER_ROLE } from '../users/role.js';
import { PROJECT_ROLES_ASCENDING, SCOPES } from '../workspace/rights/rights.js';
import { embeddingWarnings } from './frame-ancestors.js';

/** What the start depends on, as far as it can be read. */
export interface CheckedStartup extends Startup {
  /** With one of them there is no start. */
  readonly problems: readonly string[];
}

/** Where variables come from. */
export interface StartupSources {
  readonly environment: Environment;
  readonly workingDirectory: string;
  /** The path of `--env-file`. */
  readonly envFile?: string;
}

/**
 * Reads the variables: the real environment wins over `--env-file`, which wins over `.env`.
 * @throws ConfigurationError when an env file cannot be read
 */
export function environmentSources({
  environment,
  workingDirectory,
  envFile,
}: StartupSources): Environment[] {
  const chosen = envFile === undefined ? [] : [readEnvFile(envFile, true)];
  return [environment, ...chosen, readEnvFile(join(workingDirectory, '.env'), false)];
}

/** What people call the sources, in the order of `environmentSources`. */
export function sourceNames({ envFile }: Pick<StartupSources, 'envFile'>): string[] {
  return ['environment', ...(envFile === undefined ? [] : [envFile]), '.env'];
}

/**
 * Reads everything that the start depends on.
 * @rule D32 A bad configuration stops the start, with every problem at once and no value.
 * See trusted-key-entry.ts for those of the trusted keys.
 * @throws ConfigurationError with every problem; the process must not start then
 */
export async function prepareStartup(sources: StartupSources): Promise<Startup> {
  const { problems, ...startup } = await checkStartup(sources);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return startup;
}

/** The same with its problems, for callers that show them with the rest. @throws ConfigurationError as above */
export async function checkStartup(sources: StartupSources): Promise<CheckedStartup> {
  const { config, problems, warnings, given } = readConfig(environmentSources(sources));
  const license = await checkedLicense(config, { problems, given });
  const { entries, ...keys } = checkedTrustedKeys(config, given);
  const { tlsCertificate, tlsKey } = config;
  const { identity: tls, problems: tlsProblems } = readTlsIdentity(tlsCertificate, tlsKey, given);
  problems.push(
    ...keys.problems,
    ...requirements(config, given),
    ...auditProblems(config, given),
    ...tlsProblems,
  );
  warnings.push(...keys.warnings, ...embeddingWarnings(config, entries));
  // All of them are about embedded logins so far.
  const notes = config.featureFlag && config.embedLoginEnabled ? keys.notes : [];
  return { config, given, license, trustedKeys: entries, tls, problems, warnings, notes };
}

/** Which database the configuration asks for. */
export function databaseSettings({
  databaseUrl,
  databasePoolSize,
  dataDirectory,
}: Pick<Config, 'databaseUrl' | 'databasePoolSize' | 'dataDirectory'>): DatabaseSettings {
  return databaseUrl === undefined
    ? { kind: 'embedded', directory: dataDirectory }
    : { kind: 'postgresql', url: databaseUrl, poolSize: databasePoolSize };
}

/** All rights of other accounts than the owner and those of the group. */
const OTHERS = 0o007;

/** Where the key is that is made on the embedded database. */
export function encryptionKeyPath({ dataDirectory }: Pick<Config, 'dataDirectory'>): string {
  return join(dataDirectory, 'encryption.key');
}

/**
 * The keys that seal secrets at rest. Call while the data directory's lock is held: on the embedded database the key
 * is made at the first start, readable by its owner only (D45).
 * @throws ConfigurationError where another account owns or reads it, or it is no key
 */
export function encryptionKeys(config: Config): readonly Buffer[] {
  if (config.encryptionKeys.length > 0) return config.encryptionKeys;
  const path = encryptionKeyPath(config);
  if (!existsSync(path)) {
    // It has its name once it is whole and on the disk, as all is that it seals.
    const draft = `${path}.new`;
    const text = `${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}\n`;
    // A start that was broken off may have left one. In a folder that is open to all, it may also be a link of another account.
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, path);
  }
  refuseExposedKey(path);
  const key = Buffer.from(readFileSync(path, 'utf8'), 'base64');
  if (key.length === ENCRYPTION_KEY_BYTES) return [key];
  throw new ConfigurationError([`${path}: must hold ${ENCRYPTION_KEY_BYTES} bytes in base64`]);
}

/**
 * A key that another account owns or reads protects nothing. Its group may have rights: volumes in Kubernetes (`fsGroup`) give them.
 * @throws ConfigurationError with the command that corrects it
 */
function refuseExposedKey(path: string): void {
  const account = process.getuid?.();
  if (account === undefined) return;
  const { uid, mode } = statSync(path);
  if (uid !== account)
    throw new ConfigurationError([
      `${path}: belongs to account ${uid}, and the service runs as ${account}. If the key is yours: sudo chown ${account} '${path}'`,
    ]);
  if ((mode & OTHERS) !== 0)
    throw new ConfigurationError([
      `${path}: other accounts may read or write it. Correct it: chmod 600 '${path}'`,
    ]);
}

async function checkedLicense(
  config: Config,
  { problems, given }: Pick<ConfigReading, 'problems' | 'given'>,
): Promise<License> {
  if (config.license === undefined) return License.NONE;
  if (config.licensePublicKey === undefined) {
    if (!given.has(VARIABLES.licensePublicKey.name))
      problems.push('SVC_LICENSE_PUBLIC_KEY: is required with SVC_LICENSE');
    return License.NONE;
  }
  try {
    return await readLicense(config.license, config.licensePublicKey);
  } catch (error) {
    if (!(error instanceof LicenseError)) throw error;
    problems.push(licenseProblem(error, config, given));
    return License.NONE;
  }
}

function licenseProblem(error: LicenseError, config: Config, given: ConfigReading['given']): string {
  const variable = VARIABLES[error.part];
  return `${labelOf(variable, given)}: ${error.message}${pathHint(variable, config[error.part] ?? '')}`;
}

function checkedTrustedKeys(config: Config, given: ConfigReading['given']): TrustedKeysReading {
  if (config.trustedKeys === undefined) return { entries: [], problems: [], warnings: [], notes: [] };
  const { entries, problems, warnings, notes } = readTrustedKeys(
    config.trustedKeys,
    trustedKeysRules(config),
  );
  const label = labelOf(VARIABLES.trustedKeys, given);
  const hint = pathHint(VARIABLES.trustedKeys, config.trustedKeys);
  const named = (line: string) => `${label}: ${line}${hint}`;
  return {
    entries,
    problems: problems.map(named),
    warnings: warnings.map(named),
    notes: notes.map(named),
  };
}

/** What messages call the settings of JWKS addresses. */
export const JWKS_VARIABLES = {
  allowHttp: VARIABLES.jwksAllowHttp.name,
  allowPrivate: VARIABLES.jwksAllowPrivate.name,
};

/** How entries of the trusted keys are checked: at the start, and by commands. */
export function trustedKeysRules({
  jwksAllowHttp,
  jwksAllowPrivate,
  strict,
  baseUrl,
}: Pick<Config, 'jwksAllowHttp' | 'jwksAllowPrivate' | 'strict' | 'baseUrl'>): TrustedKeysRules {
  return {
    assignableRoles: ASSIGNABLE_ROLES,
    projectRoles: PROJECT_ROLES_ASCENDING,
    privilegedRoles: [OWNER_ROLE, ADMIN_ROLE],
    userIdType: 'uuid',
    scopes: SCOPES,
    allowHttp: jwksAllowHttp,
    allowPrivate: jwksAllowPrivate,
    jwksSettingNames: JWKS_VARIABLES,
    defaults: strict ? 'strict' : 'contract',
    baseUrl,
  };
}

/**
 * What was given and cannot be read has a problem of its own already.
 * @rule 2.1 = 5.1.2 The trusted keys are required when the feature is on.
 */
function requirements(config: Config, given: ConfigReading['given']): string[] {
  const { featureFlag, databaseUrl, port, baseUrl } = config;
  const problems: string[] = [];
  if (featureFlag && !given.has(VARIABLES.trustedKeys.name)) {
    problems.push('SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: is required when SVC_ENV_FEAT_TOKEN_EXCHANGE is true');
  }
  if (databaseUrl !== undefined && !given.has(VARIABLES.encryptionKeys.name)) {
    problems.push(
      `SVC_ENCRYPTION_KEY: is required with SVC_DATABASE_URL; ${NEW_ENCRYPTION_KEY} generates one`,
    );
  }
  if (port === 0 && !given.has(VARIABLES.baseUrl.name) && baseUrl === defaultBaseUrl(config)) {
    problems.push('SVC_BASE_URL: is required when SVC_PORT is 0');
  }
  return [...problems, ...metricsProblems(config)];
}

/** Who listens on one of these listens on all addresses. */
const EVERY_ADDRESS = ['0.0.0.0', '::'];

function metricsProblems({ host, port, metricsHost, metricsPort }: Config): string[] {
  const isSameHost = host === metricsHost || [host, metricsHost].some((each) => EVERY_ADDRESS.includes(each));
  const isTaken = metricsPort !== 0 && metricsPort === port && isSameHost;
  return isTaken ? ['SVC_METRICS_PORT: must be another port than SVC_PORT'] : [];
}
