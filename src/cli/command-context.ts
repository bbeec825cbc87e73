// What every command is given: the surroundings of the command line, and the settings.
import type { CliContext } from './cli-context.js';
import type { CommandSettings } from './command-settings.js';

export interface CommandContext extends CliContext {
  readonly settings: CommandSettings;
}
