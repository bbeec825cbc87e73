// The files of a start as they were read once, so that processes that start later begin with the same.
import { readFileSync } from 'node:fs';

/** What reading a file brought: its text, or the system's code for why there is none. */
type Outcome = { readonly text: string } | { readonly code: string | undefined };

export class FileRecord {
  /** @param outcomes by path; what is not in it is read from the disk when it is asked for */
  constructor(readonly outcomes = new Map<string, Outcome>()) {}

  /** To be handed on as it is. @throws Error as reading the file did */
  readonly read = (path: string): string => {
    const outcome = this.outcomes.get(path) ?? this.readOnce(path);
    if ('text' in outcome) return outcome.text;
    throw Object.assign(new Error('the file could not be read'), { code: outcome.code });
  };

  private readOnce(path: string): Outcome {
    const outcome = outcomeOf(path);
    this.outcomes.set(path, outcome);
    return outcome;
  }
}

function outcomeOf(path: string): Outcome {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code };
  }
}
