// Reads the environment, files and env files into one frozen configuration, or reports every problem at once.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { z } from 'zod';
import { EncodingError, textOf as decodedText, withoutMark } from '../platform/text/encoding.js';
import { looksLikePath } from '../platform/text/pem-fault.js';
import { counted, similarName } from '../platform/text/wording.js';
import { VARIABLES } from './environment.js';
import type { EnvironmentVariable, Parsed } from './variable.js';
import { parseVariable, valueUnset } from './variable.js';
import { StartError } from '../platform/start-error.js';

type Values = { -readonly [K in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[K]['schema']> };

/** The configuration: plain values, frozen, checked. */
export type Config = Readonly<Omit<Values, 'baseUrl'>> & {
  /** The origin of the instance, without a trailing slash. */
  readonly baseUrl: string;
};

/** A set of variables, such as `process.env` or a parsed env file. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the value of a variable was found. */
export interface Given {
  /** The name that was set: its own or its alias, with `_FILE` where it leads to a file. */
  readonly as: string;
  /** Which of the sources had it, from 0. */
  readonly source: number;
  /** The absolute path of the file that the value was read from. */
  readonly path?: string;
  /** An effect of the value that its author may not expect. */
  readonly remark?: string;
}

/** What reading found: the values (defaults where a problem stands), problems that stop the start, and warnings. */
export interface ConfigReading {
  config: Config;
  problems: string[];
  warnings: string[];
  /** By the name of the variable, also where its value has a problem, so that it is not reported as missing too. */
  given: ReadonlyMap<string, Given>;
}

/** Thrown when the process must not start. Its message lists every problem, never a value (D32). */
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
 * @param sources strongest first: the real environment, then `--env-file`, then `.env`. A variable is taken from the
 *   strongest source that has it, be it as `X` or as `X_FILE`.
 */
export function readConfig(sources: readonly Environment[]): ConfigReading {
  const problems: string[] = [];
  const given = new Map<string, Given>();
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(VARIABLES) as [string, EnvironmentVariable][]) {
    values[key] = readVariable(variable, sources, { problems, given });
  }
  // The loop above fills exactly the members of the table, which TypeScript cannot follow.
  const read = values as Values;
  const baseUrl = (read.baseUrl ?? defaultBaseUrl(read)).replace(/\/$/, '');
  return {
    config: Object.freeze({ ...read, baseUrl }),
    problems,
    warnings: unknownVariables(sources),
    given,
  };
}

/** Where an instance without SVC_BASE_URL says that it is. */
export function defaultBaseUrl({ port, tlsCertificate }: Pick<Config, 'port' | 'tlsCertificate'>): string {
  return `${tlsCertificate === undefined ? 'http' : 'https'}://localhost:${port}`;
}

/**
 * Reads an env file.
 * @throws ConfigurationError when the file cannot be read and `required` is set
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
    // Without the path, which may be the value in the place of its path.
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

/** Kubernetes sets such variables in every pod for each service of its namespace. */
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\/\S+$/;
const SERVICE_LINK = /^SVC_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_LINKS =
  'Kubernetes sets such variables for a service that is called svc: set enableServiceLinks: false in the pod';

/** A hint for a value that looks like a path, or like an address that Kubernetes has set. */
export function pathHint({ name }: Pick<EnvironmentVariable, 'name'>, text: string): string {
  if (SERVICE_ADDRESS.test(text)) return `; ${SERVICE_LINKS}`;
  return looksLikePath(text) ? `; did you mean ${name}_FILE, with this path?` : '';
}

/**
 * How problems name a variable: by its name, and by the file that contains its value, never by the value (D32).
 */
export function labelOf({ name }: Pick<EnvironmentVariable, 'name'>, given: ConfigReading['given']): string {
  const path = given.get(name)?.path;
  return path === undefined ? name : `${name} (in ${path})`;
}

/** A variable as one source has it. */
interface Setting extends Given {
  readonly text: string;
}

/** An empty variable counts as unset: env files and compose files often name a variable without giving it. */
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
 * One trailing newline is removed: editors and `echo` add it (D32).
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
    // A common mistake is a secret in the place of its path.
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
  const { code = 'unknown fault' } = error as NodeJS.ErrnoException;
  const words = FAULTS[code];
  return words === undefined ? code : `${code}: ${words}`;
}

/** A misspelt variable would silently leave its default in force. */
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
