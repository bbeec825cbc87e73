// Checks everything before Nest starts: configuration, licence and trusted keys. Reports all problems at
// once.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditProblems } from '../audit/sinks/sink-settings.js';
import { VARIABLES } from '../config/environment.js';
import { License, LicenseError, readLicense } from '../config/license.js';
import type { Config, ConfigReading, Environment, Given } from '../config/load-config.js';
import {
  ConfigurationError,
  defaultBaseUrl,
  labelOf,
  pathHint,
  readConfig,
  readEnvFile,
} from '../config/load-config.js';
import type { Startup } from '../config/startup.js';
import { readTlsIdentity } from '../config/tls-identity.js';
import type { EnvironmentVariable } from '../config/variable.js';
import { defaultOf } from '../config/variable.js';
import { ENCRYPTION_KEY_BYTES, NEW_ENCRYPTION_KEY } from '../config/variable-formats.js';
import type { DatabaseSettings } from '../platform/database/data-source.js';
import type { TrustedKeysReading, TrustedKeysRules } from '../token-exchange/instance.js';
import { readTrustedKeys } from '../token-exchange/instance.js';
import { ADMIN_ROLE, ASSIGNABLE_ROLES, OWNER_ROLE } from '../users/role.js';
import { PROJECT_ROLES_ASCENDING, SCOPES } from '../workspace/rights/rights.js';
import { embeddingWarnings } from './frame-ancestors.js';

/** The validated input of the start, as far as it can be read. */
export interface CheckedStartup extends Startup {
  /** If there are any, the service must not start. */
  readonly problems: readonly string[];
}

export interface StartupSources {
  readonly environment: Environment;
  readonly workingDirectory: string;
  readonly envFile?: string;
}

/**
 * Reads the variables. The real environment takes precedence over `--env-file`, which takes precedence over
 * `.env`.
 * @throws ConfigurationError if an env file cannot be read
 */
export function environmentSources({
  environment,
  workingDirectory,
  envFile,
}: StartupSources): Environment[] {
  const chosen = envFile === undefined ? [] : [readEnvFile(envFile, true)];
  return [environment, ...chosen, readEnvFile(join(workingDirectory, '.env'), false)];
}

/** The names of the sources, in the order of `environmentSources`. */
export function sourceNames({ envFile }: Pick<StartupSources, 'envFile'>): string[] {
  return ['environment', ...(envFile === undefined ? [] : [envFile]), '.env'];
}

/**
 * Reads everything that the start depends on.
 * @rule D32 An invalid configuration prevents the start. The message lists every problem at once, and no
 * value. See trusted-key-entry.ts for the problems of trusted keys.
 * @throws ConfigurationError with every problem; the process must not start then
 */
export async function prepareStartup(sources: StartupSources): Promise<Startup> {
  const { problems, ...startup } = await checkStartup(sources);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return startup;
}

/**
 * Like prepareStartup, but returns the problems, for callers that show them.
 * @throws ConfigurationError if an env file cannot be read
 */
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
  return { config, given, license, trustedKeys: entries, tls, problems, warnings };
}

export function databaseSettings({
  databaseUrl,
  databasePoolSize,
  dataDirectory,
}: Pick<Config, 'databaseUrl' | 'databasePoolSize' | 'dataDirectory'>): DatabaseSettings {
  return databaseUrl === undefined
    ? { kind: 'embedded', directory: dataDirectory }
    : { kind: 'postgresql', url: databaseUrl, poolSize: databasePoolSize };
}

/** All permissions of accounts other than the owner and the group. */
const OTHERS = 0o007;

/** The path of the generated key for the embedded database. */
export function encryptionKeyPath({ dataDirectory }: Pick<Config, 'dataDirectory'>): string {
  return join(dataDirectory, 'encryption.key');
}

/**
 * The keys that seal stored secrets. Call it while the data directory is locked: for the embedded database,
 * the first start generates the key, readable only by its owner (D45).
 * @throws ConfigurationError if another account owns or can read the file, or it is not a key
 */
export function encryptionKeys(config: Config): readonly Buffer[] {
  if (config.encryptionKeys.length > 0) return config.encryptionKeys;
  const path = encryptionKeyPath(config);
  if (!existsSync(path)) {
    // The file gets its name when it is complete and on disk, before anything is sealed with it.
    const draft = `${path}.new`;
    const text = `${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}\n`;
    // An interrupted start may have left a draft. In a folder that is open to all, it may be another
    // account's link.
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, path);
  }
  refuseExposedKey(path);
  const key = Buffer.from(readFileSync(path, 'utf8'), 'base64');
  if (key.length === ENCRYPTION_KEY_BYTES) return [key];
  throw new ConfigurationError([`${path}: must contain ${ENCRYPTION_KEY_BYTES} bytes in base64`]);
}

/**
 * Refuses a key that another account owns or can read. The group may have permissions, because Kubernetes
 * volumes (`fsGroup`) grant them.
 * @throws ConfigurationError with the command that fixes it
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
  if (config.trustedKeys === undefined) return { entries: [], problems: [], warnings: [] };
  const { entries, problems, warnings } = readTrustedKeys(config.trustedKeys, trustedKeysRules(config));
  const label = labelOf(VARIABLES.trustedKeys, given);
  const hint = pathHint(VARIABLES.trustedKeys, config.trustedKeys);
  const named = (line: string) => `${label}: ${line}${hint}`;
  return { entries, problems: problems.map(named), warnings: warnings.map(named) };
}

/** The names of the JWKS settings in messages. */
export const JWKS_VARIABLES = {
  allowHttp: VARIABLES.jwksAllowHttp.name,
  allowPrivate: VARIABLES.jwksAllowPrivate.name,
};

/** The rules for trusted key entries, at the start and in commands. */
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
 * Checks required variables. A variable that is set but unreadable already has its own problem.
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

/** Addresses that mean all addresses of the machine. */
const EVERY_ADDRESS = ['0.0.0.0', '::'];

function metricsProblems({ host, port, metricsHost, metricsPort }: Config): string[] {
  const isSameHost = host === metricsHost || [host, metricsHost].some((each) => EVERY_ADDRESS.includes(each));
  const isTaken = metricsPort !== 0 && metricsPort === port && isSameHost;
  return isTaken ? ['SVC_METRICS_PORT: must be another port than SVC_PORT'] : [];
}

export interface VariableState {
  readonly name: string;
  /** The effective value; null if there is none, it is secret, or it has a problem. */
  readonly value: string | null;
  readonly state: 'set' | 'default' | 'unset' | 'problem';
  readonly secret: boolean;
}

type Checked = Pick<CheckedStartup, 'config' | 'given' | 'problems'>;

/** In the order of the table of variables. */
export function variableStates(checked: Checked): VariableState[] {
  const rows = Object.entries(VARIABLES) as [keyof typeof VARIABLES, EnvironmentVariable][];
  return rows.map(([key, variable]) => {
    const { name } = variable;
    const state = stateOf(variable, checked);
    const secret = variable.isSecret === true;
    const value = secret || state === 'problem' ? null : valueOf(checked.config[key]);
    return { name, value, state, secret };
  });
}

function stateOf(
  variable: EnvironmentVariable,
  { given, problems, config }: Checked,
): VariableState['state'] {
  const own = given.get(variable.name);
  if (own === undefined)
    return isComputed(variable, config) || defaultOf(variable) !== undefined ? 'default' : 'unset';
  return hasProblem(variable, own, { given, problems }) ? 'problem' : 'set';
}

function hasProblem(
  variable: EnvironmentVariable,
  { as }: Given,
  { given, problems }: Pick<Checked, 'given' | 'problems'>,
): boolean {
  const labels = [`${labelOf(variable, given)}: `, `${variable.name}: `, `${as}: `];
  return problems.some((problem) => labels.some((label) => problem.startsWith(label)));
}

/** The default of the base URL is computed from other variables. */
function isComputed({ name }: EnvironmentVariable, { baseUrl }: Config): boolean {
  return name === VARIABLES.baseUrl.name && baseUrl !== '';
}

function valueOf(value: Config[keyof Config]): string | null {
  if (value === undefined) return null;
  return typeof value === 'object' ? value.map(String).join(',') : String(value);
}
