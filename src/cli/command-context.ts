// What every command is given: its surroundings, the settings that it needs, and how it answers.
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

/** Only the entry file takes these from the process. */
export interface CliContext {
  readonly environment: Environment;
  /** Relative paths, `.env` and the embedded data directory are looked for here. */
  readonly workingDirectory: string;
  /** Gives all of it; waits for its end. */
  readonly stdin: { read(): Uint8Array };
  /** Undefined without a terminal. */
  readonly terminal?: Terminal;
  /** The same, but it shows nothing of what is typed. */
  readonly secrets?: Terminal;
  /** Results only, so that they can be piped on. */
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** Version of the package. */
  readonly version: string;
}

export interface CommandContext extends CliContext {
  readonly settings: CommandSettings;
  readonly answers: Answers;
}

/** Reads those variables that a command needs, from the places in which the service looks for them. */
export class CommandSettings {
  /** @param envFile returns the path of `--env-file` once the command line is parsed */
  constructor(
    private readonly context: CliContext,
    private readonly envFile: () => string | undefined,
  ) {}

  /**
   * Reads the given variables; all others have their defaults. A fault in a variable that a command has no use for
   * does not stop it. The path of the data directory is absolute.
   * @throws ConfigurationError with every problem
   */
  read(...names: readonly (keyof Config)[]): Config {
    const { config, problems } = this.reading(names);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return { ...config, dataDirectory: resolve(this.context.workingDirectory, config.dataDirectory) };
  }

  /** The name of a variable, with the file that holds its value. */
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

  /** Where the service would look for its variables. */
  get startupSources(): StartupSources {
    const { environment, workingDirectory } = this.context;
    const path = this.envFile();
    const envFile = path === undefined ? undefined : resolve(workingDirectory, path);
    return { environment, workingDirectory, envFile };
  }
}
