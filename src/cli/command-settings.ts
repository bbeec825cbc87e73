// Reads those variables that a command needs, from the places in which the service looks for them.
import { resolve } from 'node:path';
import { VARIABLES } from '../config/environment.js';
import type { Config, ConfigReading, Environment } from '../config/load-config.js';
import { ConfigurationError, labelOf, readConfig } from '../config/load-config.js';
import type { EnvironmentVariable } from '../config/variable.js';
import type { StartupSources } from '../instance/startup.js';
import { environmentSources } from '../instance/startup.js';
import type { CliContext } from './cli-context.js';
import type { Answers } from './answers.js';

/** The context of every command: the surroundings of the command line, the settings, and how it answers. */
export interface CommandContext extends CliContext {
  readonly settings: CommandSettings;
  readonly answers: Answers;
}

export class CommandSettings {
  /** @param envFile returns the path of `--env-file` once the command line is parsed */
  constructor(
    private readonly context: CliContext,
    private readonly envFile: () => string | undefined,
  ) {}

  /**
   * Reads the given variables; all others have their defaults. A fault in a variable that a command has no use for
   * does not stop it.
   * @throws ConfigurationError with every problem
   */
  read(...names: readonly (keyof Config)[]): Config {
    const { config, problems } = this.reading(names);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return config;
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
    const sources = environmentSources(this.startupSources);
    return readConfig(sources.map((source) => onlyNamed(source, names)));
  }

  /** Where the service would look for its variables. */
  get startupSources(): StartupSources {
    const { environment, workingDirectory } = this.context;
    const path = this.envFile();
    const envFile = path === undefined ? undefined : resolve(workingDirectory, path);
    return { environment, workingDirectory, envFile };
  }
}

function onlyNamed(source: Environment, names: ReadonlySet<string>): Environment {
  return Object.fromEntries(Object.entries(source).filter(([name]) => names.has(name)));
}
