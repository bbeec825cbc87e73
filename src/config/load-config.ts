// Reads the environment, files and env files into one frozen configuration, and reports all problems at once.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { z } from 'zod';
import { StartError } from '../platform/start-error.js';
import { EncodingError, textOf as decodedText, withoutMark } from '../platform/text/encoding.js';
import { looksLikePath } from '../platform/text/pem-fault.js';
import { counted, similarName } from '../platform/text/wording.js';
import { VARIABLES } from './environment.js';
import type { EnvironmentVariable, Parsed } from './variable.js';
import { parseVariable, valueUnset } from './variable.js';

type Values = { -readonly [K in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[K]['schema']> };

/** The configuration: plain, validated values, frozen. */
export type Config = Readonly<Omit<Values, 'baseUrl'>> & {
  /** The instance's origin, without a trailing slash. */
  readonly baseUrl: string;
};

/** A set of variables, such as `process.env` or a parsed env file. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Given {
  /** The name that was set: its own or its alias, with `_FILE` if it was a path. */
  readonly as: string;
  /** The index of the source, from 0. */
  readonly source: number;
  /** The absolute path of the file with the value. */
  readonly path?: string;
  /** An unexpected effect of the value. */
  readonly remark?: string;
}

/**
 * The result: the values (the default if there is a problem), the problems that prevent the start, and
 * warnings.
 */
export interface ConfigReading {
  config: Config;
  problems: string[];
  warnings: string[];
  /** By variable name. Includes variables with a problem, so that they are not reported as missing too. */
  given: ReadonlyMap<string, Given>;
}

/** The process must not start. The message lists every problem, but no value (D32). */
export class ConfigurationError extends StartError {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${counted(problems.length, 'problem')}:\n${problems.map((line) => `  - ${line}`).join('\n')}`,
    );
    this.name = 'ConfigurationError';
  }
}

/**
 * Reads every variable of the table.
 * @param sources by precedence: the real environment, then `--env-file`, then `.env`. A variable is read from
 * the first source that has it, as `X` or as `X_FILE`.
 */
export function readConfig(sources: readonly Environment[]): ConfigReading {
  const problems: string[] = [];
  const given = new Map<string, Given>();
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(VARIABLES) as [string, EnvironmentVariable][]) {
    values[key] = readVariable(variable, sources, { problems, given });
  }
  // The loop sets exactly the properties of the table, which TypeScript cannot infer.
  const read = values as Values;
  const baseUrl = (read.baseUrl ?? defaultBaseUrl(read)).replace(/\/$/, '');
  return {
    config: Object.freeze({ ...read, baseUrl }),
    problems,
    warnings: unknownVariables(sources),
    given,
  };
}

/** The base URL of an instance without SVC_BASE_URL. */
export function defaultBaseUrl({ port, tlsCertificate }: Pick<Config, 'port' | 'tlsCertificate'>): string {
  return `${tlsCertificate === undefined ? 'http' : 'https'}://localhost:${port}`;
}

/**
 * Reads an env file.
 * @throws ConfigurationError if the file cannot be read and is required
 */
export function readEnvFile(path: string, required: boolean): Environment {
  try {
    return parseEnv(decodedText(readFileSync(path)));
  } catch (error) {
    if (error instanceof EncodingError) throw new ConfigurationError([`env file ${path}: ${error.message}`]);
    if (!required && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigurationError([`env file ${path}: cannot be read (${describeFault(error)})`]);
  }
}

function readVariable(
  variable: EnvironmentVariable,
  sources: readonly Environment[],
  { problems, given }: { problems: string[]; given: Map<string, Given> },
): unknown {
  const set = settingOf(variable, sources);
  if (set === undefined) return valueUnset(variable);
  const { as, source, path } = set;
  const text = 'problem' in set ? set : textOf(set);
  if ('problem' in text) {
    // Without the path, which may be the value itself by mistake.
    given.set(variable.name, { as, source });
    problems.push(text.problem);
    return valueUnset(variable);
  }
  given.set(variable.name, { as, source, path });
  const parsed: Parsed<unknown> = parseVariable(variable, text.value);
  if ('value' in parsed) {
    given.set(variable.name, { as, source, path, remark: variable.remark?.(text.value) });
    return parsed.value;
  }
  problems.push(`${labelOf(variable, given)}: ${parsed.problem}${pathHint(variable, text.value)}`);
  return valueUnset(variable);
}

/** Kubernetes sets such variables in every pod, for each service in its namespace. */
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\/\S+$/;
const SERVICE_LINK = /^SVC_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_LINKS =
  'Kubernetes sets such variables for a service that is called svc: set enableServiceLinks: false in the pod';

/** A hint for a value that looks like a path, or like an address from Kubernetes. */
export function pathHint({ name }: Pick<EnvironmentVariable, 'name'>, text: string): string {
  if (SERVICE_ADDRESS.test(text)) return `; ${SERVICE_LINKS}`;
  return looksLikePath(text) ? `; did you mean ${name}_FILE, with this path?` : '';
}

/**
 * A variable's label in problems: its name, and the file that contains its value, but never the value (D32).
 */
export function labelOf({ name }: Pick<EnvironmentVariable, 'name'>, given: ConfigReading['given']): string {
  const path = given.get(name)?.path;
  return path === undefined ? name : `${name} (in ${path})`;
}

interface Setting extends Given {
  readonly text: string;
}

/** An empty variable is unset: env files and compose files often name a variable without a value. */
function settingOf(
  { name, alias }: EnvironmentVariable,
  sources: readonly Environment[],
): Setting | (Given & { readonly problem: string }) | undefined {
  const names = alias === undefined ? [name] : [name, alias];
  for (const [source, values] of sources.entries()) {
    for (const as of names) {
      const plain = values[as] || undefined;
      const path = values[`${as}_FILE`] || undefined;
      if (plain !== undefined && path !== undefined)
        return { as, source, problem: `${as}: both ${as} and ${as}_FILE are set; give one` };
      if (plain !== undefined) return { as, source, text: plain };
      if (path !== undefined) return { as: `${as}_FILE`, source, text: path, path: resolve(path) };
    }
  }
  return undefined;
}

/**
 * Removes one trailing newline, which editors and `echo` add (D32).
 * @rule 2.1.file Every variable may be given as the path of a file.
 */
function textOf({ as, text, path }: Setting): { value: string } | { problem: string } {
  if (path === undefined) return { value: withoutMark(text) };
  try {
    return { value: decodedText(readFileSync(path)).replace(/\r?\n$/, '') };
  } catch (error) {
    if (error instanceof EncodingError) return { problem: `${as}: ${path} ${error.message}` };
    const fault = `cannot be read (${describeFault(error)})`;
    if (looksLikePath(text)) return { problem: `${as}: ${path} ${fault}` };
    // A common mistake is to set a secret instead of its path.
    const hint = `if this is the value and not its path, set ${as.replace(/_FILE$/, '')}`;
    return { problem: `${as}: the file ${fault}; ${hint}` };
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is none',
  EACCES: 'this account may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
  ENAMETOOLONG: 'its path is too long',
};

function describeFault(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  const words = FAULTS[code];
  return words === undefined ? code : `${code}: ${words}`;
}

/** Warns of unknown variables: a misspelt one would silently leave the default in effect. */
function unknownVariables(sources: readonly Environment[]): string[] {
  const known = new Set(Object.values(VARIABLES).flatMap(({ name }) => [name, `${name}_FILE`]));
  const names = new Set(sources.flatMap((source) => Object.keys(source)));
  const unknown = [...names].filter((name) => /^SVC_/i.test(name) && !known.has(name)).sort();
  const links = unknown.filter((name) => SERVICE_LINK.test(name));
  const link = links.length === 0 ? [] : [`${links.join(', ')}: without effect; ${SERVICE_LINKS}`];
  const others = unknown
    .filter((name) => !links.includes(name))
    .map((name) => `${name} is not a variable of this service and has no effect${meantInstead(name, known)}`);
  return [...link, ...others];
}

function meantInstead(name: string, known: ReadonlySet<string>): string {
  const meant = similarName(name, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}
