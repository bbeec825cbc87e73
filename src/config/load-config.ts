// Reads the environment, files and env files into one frozen configuration, or tells every problem at once.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Deprecation } from './deprecations.js';
import { DEPRECATIONS, deprecationWarnings } from './deprecations.js';
import { VARIABLES } from './environment.js';
import type { EnvironmentVariable } from './variable.js';

type Values = { -readonly [K in keyof typeof VARIABLES]: (typeof VARIABLES)[K]['absent'] };

/** The configuration: plain values, frozen, checked. */
export type Config = Readonly<Omit<Values, 'baseUrl'>> & {
  /** The origin of the instance, without a trailing slash. */
  readonly baseUrl: string;
};

/** A set of variables, such as `process.env` or a parsed env file. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What reading found: the values (defaults where a problem stands), problems that stop the start, and warnings. */
export interface ConfigReading {
  config: Config;
  problems: string[];
  warnings: string[];
}

/** Thrown when the process must not start. Its message lists every problem, never a value (D32). */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem(s):\n${problems.map((line) => `  - ${line}`).join('\n')}`,
    );
    this.name = 'ConfigurationError';
  }
}

/**
 * Reads every variable of the table.
 * @param sources strongest first: the real environment, then `--env-file`, then `.env`. A variable is taken from the
 *   strongest source that has it, be it as `X` or as `X_FILE`.
 * @param deprecations what is warned of where it is set
 */
export function readConfig(
  sources: readonly Environment[],
  deprecations: readonly Deprecation[] = DEPRECATIONS,
): ConfigReading {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(VARIABLES) as [string, EnvironmentVariable][]) {
    values[key] = readVariable(variable, sources, problems);
  }
  // The loop above fills exactly the members of the table, which TypeScript cannot follow.
  const read = values as Values;
  const baseUrl = (read.baseUrl ?? defaultBaseUrl(read)).replace(/\/$/, '');
  const warnings = [
    ...unknownVariables(sources, deprecations),
    ...deprecationWarnings(sources, deprecations),
  ];
  return { config: Object.freeze({ ...read, baseUrl }), problems, warnings };
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
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!required && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigurationError([`env file ${path}: cannot be read (${describeFault(error)})`]);
  }
}

function readVariable(
  variable: EnvironmentVariable,
  sources: readonly Environment[],
  problems: string[],
): unknown {
  const text = textOf(variable, sources, problems);
  if (text === undefined) return variable.absent;
  const parsed = variable.parse(text);
  if ('value' in parsed) return parsed.value;
  problems.push(`${variable.name}: ${parsed.problem}`);
  return variable.absent;
}

/** An empty variable counts as unset: env files and compose files often name a variable without giving it. */
function textOf(variable: EnvironmentVariable, sources: readonly Environment[], problems: string[]) {
  const names = variable.alias === undefined ? [variable.name] : [variable.name, variable.alias];
  for (const source of sources) {
    for (const name of names) {
      const plain = source[name] || undefined;
      const path = source[`${name}_FILE`] || undefined;
      if (plain !== undefined && path !== undefined) {
        problems.push(`${name}: both ${name} and ${name}_FILE are set; give one`);
        return undefined;
      }
      if (plain !== undefined) return plain;
      if (path !== undefined) return textOfFile(name, path, problems);
    }
  }
  return undefined;
}

/**
 * One trailing newline is removed: editors and `echo` add it (D32).
 * @rule 2.1.file Every variable may be given as the path of a file.
 */
function textOfFile(name: string, path: string, problems: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    problems.push(`${name}_FILE: the file cannot be read (${describeFault(error)})`);
    return undefined;
  }
}

function describeFault(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown fault';
}

/** A misspelt variable would silently leave its default in force. A deprecated name may be the alias of another. */
function unknownVariables(sources: readonly Environment[], deprecations: readonly Deprecation[]): string[] {
  const described: readonly { name: string }[] = [...Object.values(VARIABLES), ...deprecations];
  const known = new Set(described.flatMap(({ name }) => [name, `${name}_FILE`]));
  const names = new Set(sources.flatMap((source) => Object.keys(source)));
  return [...names]
    .filter((name) => name.startsWith('SVC_') && !known.has(name))
    .sort()
    .map((name) => `${name} is not a variable of this service and has no effect`);
}
