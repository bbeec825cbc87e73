// The surroundings of a command: its folder and variables, and where it reads and writes.
import type { Environment } from '../config/load-config.js';

/** Takes text that a person or a program is to read. */
interface TextOutput {
  write(text: string): unknown;
  /** Whether its reader has disconnected: endless output ends then. */
  readonly isClosed?: boolean;
  /** Whether a person watches, who may see progress. */
  readonly isTerminal?: boolean;
}

/** Gives text that a person or a program has written. */
interface TextInput {
  /** All of it; waits for its end. */
  read(): string;
}

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
  readonly stdin: TextInput;
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
