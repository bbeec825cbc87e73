// Runs admin commands in the test's own process and keeps what they say.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Terminal } from '../../src/cli/command-context.js';
import { runCli } from '../../src/cli/program.js';
import type { Environment } from '../../src/config/load-config.js';
import { VERSION } from '../../src/platform/version.js';
import { BASE_URL } from './base-url.js';
import type { TestDatabase } from './databases.js';

export interface CommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The version that commands run here say they have. */
export const TEST_VERSION = '0.0.0-test';

/** A working directory of its own, in which commands are typed. It goes with the run's temporary folder. */
export class CommandLine {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-test-cli-'));

  /**
   * @param environment the whole environment of the commands, unless one brings its own
   * @param version that the commands say they have
   */
  constructor(
    private readonly environment: () => Environment = () => ({}),
    private readonly version = TEST_VERSION,
  ) {}

  /** Makes a command line beside a service on the same database, with its version and trusted keys, and with key sets by `http:`. */
  static beside(database: TestDatabase, trustedKeys: () => readonly object[] = () => []): CommandLine {
    const settings = () => ({
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify(trustedKeys()),
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
      SVC_BASE_URL: BASE_URL,
    });
    return new CommandLine(() => ({ ...database.environment, ...settings() }), VERSION);
  }

  /**
   * @param stdin what the command reads from its standard input
   * @param person answers questions at the terminal; without one, there is no terminal
   */
  async run(
    args: string[],
    environment = this.environment(),
    stdin: string | Uint8Array = '',
    { terminal, typed }: { terminal?: Terminal; typed?: string[] } = {},
  ): Promise<CommandResult> {
    const said = { stdout: '', stderr: '' };
    const output = (name: keyof typeof said) => ({ write: (text: string) => void (said[name] += text) });
    const exitCode = await runCli(args, {
      environment,
      workingDirectory: this.folder,
      stdin: { read: () => (typeof stdin === 'string' ? Buffer.from(stdin) : stdin) },
      terminal,
      ...(typed && { secrets: { ask: () => Promise.resolve(typed.shift() ?? '') } }),
      stdout: output('stdout'),
      stderr: output('stderr'),
      version: this.version,
    });
    return { exitCode, ...said };
  }

  /** Runs a command that must succeed, and returns its output. */
  async output(args: string[], environment = this.environment()): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(args, environment);
    if (exitCode !== 0) throw new Error(`${args.slice(0, 2).join(' ')} exited with ${exitCode}: ${stderr}`);
    return stdout;
  }

  /** Writes a file into the working directory and returns its whole path. */
  write(name: string, content: string | Uint8Array | object): string {
    const path = join(this.folder, name);
    const isRaw = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(path, isRaw ? content : JSON.stringify(content));
    return path;
  }
}
