// How a command says that something is there already which it may not replace.
import { CommandError } from '../administration/command-error.js';

/** What is there does not fit what is to be made. Nothing was changed. */
export class InPlaceError extends CommandError {
  constructor(summary: string, details: readonly string[] = []) {
    super(summary, details);
    this.name = 'InPlaceError';
  }
}
