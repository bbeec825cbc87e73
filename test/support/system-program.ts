// Finds and runs programs of the system's packages.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import { until } from './until.js';

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5_000;
const PROBE_MS = 5_000;

/** The path of a system program; undefined if it is not installed. Debian keeps some in folders that only root's PATH has. */
export function systemProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A program that runs with files in a folder of its own. */
export class RunningProgram {
  /** Its output. */
  log = '';
  private readonly child: ChildProcess;

  constructor(
    private readonly folder: string,
    path: string,
    options: { readonly args: readonly string[]; readonly env?: NodeJS.ProcessEnv },
  ) {
    const { args, env } = options;
    this.child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(env && { env }) });
    const keep = (text: Buffer) => (this.log += text.toString());
    this.child.stdout?.on('data', keep);
    this.child.stderr?.on('data', keep);
  }

  /** Waits for a state. On a timeout, the program is stopped. @throws Error with its output */
  async becomes(what: string, isSo: () => Promise<boolean>, limitMs = START_LIMIT_MS): Promise<void> {
    try {
      await until(what, limitMs, isSo);
    } catch (error) {
      await this.stop();
      throw new Error(`not so: ${what}\n${this.log}`, { cause: error });
    }
  }

  reload(): void {
    this.child.kill('SIGHUP');
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
      const ended = once(this.child, 'close');
      this.child.kill('SIGTERM');
      await ended;
      clearTimeout(patience);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Whether a PostgreSQL server answers there. */
export async function answersQueries(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: PROBE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
