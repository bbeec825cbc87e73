// What every command receives: its surroundings, settings and output.
import { resolve } from 'node:path';
import { CommandError } from '../administration/operation.js';
import { VARIABLES } from '../config/environment.js';
import type { Config, ConfigReading, Environment } from '../config/load-config.js';
import { ConfigurationError, labelOf, readConfig } from '../config/load-config.js';
import type { EnvironmentVariable } from '../config/variable.js';
import type { StartupSources } from '../instance/prepare-startup.js';
import { environmentSources } from '../instance/prepare-startup.js';

export interface Terminal {
  /** Asks a question, and resolves with the line that the person types. */
  ask(question: string): Promise<string>;
}

/** The command's surroundings. Only the entry file reads them from the process. */
export interface CliContext {
  readonly environment: Environment;
  /** The base of relative paths, of `.env` and of the embedded data directory. */
  readonly workingDirectory: string;
  /** Resolves to the whole input at its end. */
  readonly stdin: { read(): Uint8Array };
  /** Undefined without a terminal. */
  readonly terminal?: Terminal;
  /** A terminal that does not echo what the person types. Undefined without a terminal. */
  readonly secrets?: Terminal;
  /** Receives results only, so they can be piped. */
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  readonly version: string;
}

export interface CommandContext extends CliContext {
  readonly settings: CommandSettings;
  readonly answers: Answers;
}

/** Reads the variables that a command needs, where the service would look for them. */
export class CommandSettings {
  /** @param envFile returns the path of `--env-file` after the command line is parsed */
  constructor(
    private readonly context: CliContext,
    private readonly envFile: () => string | undefined,
  ) {}

  /**
   * Reads the given variables. All others have their defaults, so an error in an unused variable does not stop a command.
   * The path of the data directory is absolute.
   * @throws ConfigurationError with every problem
   */
  read(...names: readonly (keyof Config)[]): Config {
    const { config, problems } = this.reading(names);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return { ...config, dataDirectory: resolve(this.context.workingDirectory, config.dataDirectory) };
  }

  /** A variable's name, with the file that contains its value. */
  labelOf(name: keyof Config): string {
    return labelOf(VARIABLES[name], this.reading([name]).given);
  }

  private reading(read: readonly (keyof Config)[]): ConfigReading {
    const variables: readonly EnvironmentVariable[] = read.map((name) => VARIABLES[name]);
    const names = new Set(
      variables.flatMap(({ name, alias = name }) => [name, alias].flatMap((one) => [one, `${one}_FILE`])),
    );
    const onlyNamed = (source: Environment) =>
      Object.fromEntries(Object.entries(source).filter(([name]) => names.has(name)));
    return readConfig(environmentSources(this.startupSources).map(onlyNamed));
  }

  /** The places in which the service would look for its variables. */
  get startupSources(): StartupSources {
    const { environment, workingDirectory } = this.context;
    const path = this.envFile();
    const envFile = path === undefined ? undefined : resolve(workingDirectory, path);
    return { environment, workingDirectory, envFile };
  }
}

/** Receives output for a person or a program. */
interface TextOutput {
  write(text: string): unknown;
  /** True once its reader has disconnected. Endless output then ends. */
  readonly isClosed?: boolean;
  /** True if a person watches, so progress can be shown. */
  readonly isTerminal?: boolean;
}

/**
 * Results go to standard output, everything else to standard error.
 * With --json a command prints one JSON document, or JSON lines for endless lists, and errors as JSON too.
 */
export class Answers {
  /** @param isJson whether a program reads the output */
  constructor(
    private readonly context: { readonly stdout: TextOutput; readonly stderr: TextOutput },
    readonly isJson: boolean,
  ) {}

  give(value: unknown, text: string): void {
    this.context.stdout.write(this.isJson ? `${JSON.stringify(value, null, 2)}\n` : text);
  }

  /** Prints a list. For people, an empty list prints only a remark on standard error. */
  giveList(values: readonly unknown[], text: () => string, nothing: string): void {
    this.give(values, values.length === 0 ? '' : text());
    if (values.length === 0 && !this.isJson) this.remark(nothing);
  }

  /** Prints some of many results. JSON has one object a line. */
  giveLines(values: readonly unknown[], text: () => string): void {
    this.context.stdout.write(
      this.isJson ? values.map((value) => `${JSON.stringify(value)}\n`).join('') : text(),
    );
  }

  remark(text: string): void {
    this.context.stderr.write(this.isJson ? `${JSON.stringify({ remark: text })}\n` : `${text}\n`);
  }

  fail(error: unknown, exitCode: number): void {
    const shown = { exitCode, ...shownError(error) };
    this.context.stderr.write(`${this.isJson ? JSON.stringify({ error: shown }) : errorText(error)}\n`);
  }
}

function errorText(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  return `error: ${error instanceof CommandError ? error.message : reasonOf(error)}`;
}

/** An error as `--json` writes it. It has details only if they add to the message. */
function shownError(error: unknown) {
  if (error instanceof ConfigurationError)
    return { message: 'The configuration has problems.', details: error.problems };
  if (error instanceof CommandError) return { message: error.summary, details: error.details };
  return { message: reasonOf(error), details: [] };
}

/** A message of one line for an error of third-party code. */
export function reasonOf(error: unknown): string {
  const { message, code, errors } = (error ?? {}) as Partial<NodeJS.ErrnoException & AggregateError>;
  // Node.js tries every address of a host name, and wraps the failures in an error without a message.
  if (!message && Array.isArray(errors)) return reasonOf(errors[0]);
  return (message || code || 'unknown error').split('\n', 1)[0] ?? '';
}

/**
 * Wrong usage: contradicting options, a missing terminal or option, or an invalid value.
 * Nothing has changed.
 */
export class MisuseError extends CommandError {
  override readonly name = 'MisuseError';
}

/** Files that the command would create exist. Nothing has changed. */
export class InPlaceError extends CommandError {
  override readonly name = 'InPlaceError';
}
