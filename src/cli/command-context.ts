// What every command is given: the surroundings of the command line, the settings, and how it answers.
import type { Answers } from './answers.js';
import type { CliContext } from './cli-context.js';
import type { CommandSettings } from './command-settings.js';

export interface CommandContext extends CliContext {
  readonly settings: CommandSettings;
  readonly answers: Answers;
}
