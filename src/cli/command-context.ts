// What every command receives: its surroundings, settings and output.
import { resolve } from 'node:path';
import { VARIABLES } from '../config/environment.js';
import type { Config, ConfigReading, Environment } from '../config/load-config.js';
import { ConfigurationError, labelOf, readConfig } from '../config/load-config.js';
import type { EnvironmentVariable } from '../config/variable.js';
import type { StartupSources } from '../instance/prepare-startup.js';
import { environmentSources } from '../instance/prepare-startup.js';
import type { Answers, TextOutput } from './command-answers.js';

/** A person at a terminal. */
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
  /** Version of the package. */
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
