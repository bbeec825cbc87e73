// Everything that is judged before Nest starts: configuration, licence and trusted keys, with all problems at once.
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { auditProblems } from '../audit/sinks/sink-settings.js';
import { ENCRYPTION_KEY_BYTES } from '../config/environment.js';
import { License, LicenseError, readLicense } from '../config/license.js';
import type { Config, Environment } from '../config/load-config.js';
import { ConfigurationError, defaultBaseUrl, readConfig, readEnvFile } from '../config/load-config.js';
import type { TlsIdentity } from '../config/tls-identity.js';
import { readTlsIdentity } from '../config/tls-identity.js';
import type { DatabaseSettings } from '../database/data-source.js';
import type { TrustedKeysRules } from '../token-exchange/keys/entry-reader.js';
import type { TrustedKeysReading } from '../token-exchange/keys/trusted-key-entry.js';
import { readTrustedKeys } from '../token-exchange/keys/trusted-key-entry.js';
import type { TrustedKeyEntry } from '../token-exchange/keys/trusted-key.js';
import { ADMIN_ROLE, ASSIGNABLE_ROLES, OWNER_ROLE } from '../users/role.js';
import { SCOPES } from '../workspace/rights/rights.js';
import { embeddingWarnings } from './frame-ancestors.js';

/** What the application is made from: plain, checked values. */
export interface Startup {
  readonly config: Config;
  readonly license: License;
  readonly trustedKeys: readonly TrustedKeyEntry[];
  /** With it the service serves HTTPS. */
  readonly tls?: TlsIdentity;
  /** What an operator should know, although the service starts. */
  readonly warnings: readonly string[];
  /** What the configuration does that its author may not expect. */
  readonly notes: readonly string[];
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

/**
 * Reads everything that the start depends on.
 * @rule D32 A bad configuration stops the start, with every problem at once and no value.
 * See trusted-key-entry.ts for those of the trusted keys.
 * @throws ConfigurationError with every problem; the process must not start then
 */
export async function prepareStartup(sources: StartupSources): Promise<Startup> {
  const { config, problems, warnings } = readConfig(environmentSources(sources));
  const license = await checkedLicense(config, problems);
  const { entries, ...keys } = checkedTrustedKeys(config);
  const { identity: tls, problems: tlsProblems } = readTlsIdentity(config.tlsCertificate, config.tlsKey);
  problems.push(...keys.problems, ...requirements(config), ...auditProblems(config), ...tlsProblems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  warnings.push(...keys.warnings, ...embeddingWarnings(config, entries));
  // All of them are about embedded logins so far.
  const notes = config.featureFlag && config.embedLoginEnabled ? keys.notes : [];
  return { config, license, trustedKeys: entries, tls, warnings, notes };
}

/** Which database the configuration asks for. */
export function databaseSettings({ databaseUrl, databasePoolSize, dataDirectory }: Config): DatabaseSettings {
  return databaseUrl === undefined
    ? { kind: 'embedded', directory: dataDirectory }
    : { kind: 'postgresql', url: databaseUrl, poolSize: databasePoolSize };
}

/**
 * The keys that seal secrets at rest. Call while the data directory's lock is held: on the embedded database the key
 * is made at the first start, readable by its owner only (D45).
 */
export function encryptionKeys({ encryptionKeys: configured, dataDirectory }: Config): readonly Buffer[] {
  if (configured.length > 0) return configured;
  const path = join(dataDirectory, 'encryption.key');
  try {
    writeFileSync(path, `${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}\n`, {
      flag: 'wx',
      mode: 0o600,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = Buffer.from(readFileSync(path, 'utf8'), 'base64');
  if (key.length === ENCRYPTION_KEY_BYTES) return [key];
  throw new ConfigurationError([`${path}: must hold ${ENCRYPTION_KEY_BYTES} bytes in base64`]);
}

async function checkedLicense(config: Config, problems: string[]): Promise<License> {
  if (config.license === undefined) return License.NONE;
  if (config.licensePublicKey === undefined) {
    problems.push('SVC_LICENSE_PUBLIC_KEY: is required with SVC_LICENSE');
    return License.NONE;
  }
  try {
    return await readLicense(config.license, config.licensePublicKey);
  } catch (error) {
    if (!(error instanceof LicenseError)) throw error;
    problems.push(`SVC_LICENSE: ${error.message}`);
    return License.NONE;
  }
}

function checkedTrustedKeys(config: Config): TrustedKeysReading {
  if (config.trustedKeys === undefined) return { entries: [], problems: [], warnings: [], notes: [] };
  const { entries, problems, warnings, notes } = readTrustedKeys(
    config.trustedKeys,
    trustedKeysRules(config),
  );
  const named = (line: string) => `SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: ${line}`;
  return {
    entries,
    problems: problems.map(named),
    warnings: warnings.map(named),
    notes: notes.map(named),
  };
}

/** How entries of the trusted keys are judged: at the start, and by commands. */
export function trustedKeysRules({
  jwksAllowHttp,
  strict,
  baseUrl,
}: Pick<Config, 'jwksAllowHttp' | 'strict' | 'baseUrl'>): TrustedKeysRules {
  return {
    assignableRoles: ASSIGNABLE_ROLES,
    privilegedRoles: [OWNER_ROLE, ADMIN_ROLE],
    scopes: SCOPES,
    allowHttp: jwksAllowHttp,
    defaults: strict ? 'strict' : 'contract',
    baseUrl,
  };
}

/** @rule 2.1 The trusted keys are required when the feature is on. */
function requirements(config: Config): string[] {
  const { featureFlag, trustedKeys, databaseUrl, encryptionKeys: keys, port, baseUrl } = config;
  const problems: string[] = [];
  if (featureFlag && trustedKeys === undefined) {
    problems.push('SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: is required when SVC_ENV_FEAT_TOKEN_EXCHANGE is true');
  }
  if (databaseUrl !== undefined && keys.length === 0) {
    problems.push('SVC_ENCRYPTION_KEY: is required with SVC_DATABASE_URL');
  }
  if (port === 0 && baseUrl === defaultBaseUrl(config)) {
    problems.push('SVC_BASE_URL: is required when SVC_PORT is 0');
  }
  return problems;
}
