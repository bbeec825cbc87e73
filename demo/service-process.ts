// Runs the built service and its admin commands as child processes.
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface ServiceSurroundings {
  /** The folder of the package, which contains `dist`. */
  packageRoot: string;
  /** Working directory and home of the service's log file. */
  directory: string;
  /** The whole environment of the child processes. */
  environment: NodeJS.ProcessEnv;
  /** Ends a running child process early. */
  signal?: AbortSignal;
}

/** On a busy machine, a start may take minutes. A longer start is a hang. */
const READY_TIMEOUT_MILLISECONDS = 240_000;
const STOP_TIMEOUT_MILLISECONDS = 15_000;
const ANSWER_TIMEOUT_MILLISECONDS = 2_000;
const POLL_INTERVAL_MILLISECONDS = 100;
const SHOWN_LOG_LINES = 30;

/** Runs one admin command and returns its output. Throws with the output if it does not exit with 0. */
export async function runAdmin(surroundings: ServiceSurroundings, args: string[]): Promise<string> {
  const child = spawnNode(surroundings, 'dist/src/cli/svc-admin.js', args, ['ignore', 'pipe', 'pipe']);
  const printed: string[] = [];
  const complaints: string[] = [];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const code = await exitCodeOf(child);
  surroundings.signal?.throwIfAborted();
  if (code === 0) return printed.join('');
  const output = [...printed, ...complaints].join('').trim();
  throw new Error(`The admin command "${args.slice(0, 2).join(' ')}" failed (${code}):\n${output}`);
}

/** The running service. Its output goes to `service.log` in its directory. */
export class ServiceProcess {
  private constructor(
    readonly baseUrl: string,
    readonly logFile: string,
    private readonly child: ChildProcess,
    /** Resolves when the process has ended, to its exit code or the name of a signal. */
    readonly exited: Promise<number | string>,
  ) {}

  /** Starts the service and waits until it is ready. Throws with its last output if it fails. */
  static async start(surroundings: ServiceSurroundings, baseUrl: string): Promise<ServiceProcess> {
    const logFile = join(surroundings.directory, 'service.log');
    const log = openSync(logFile, 'a', 0o600);
    const child = spawnNode(surroundings, 'dist/src/main.js', [], ['ignore', log, log]);
    closeSync(log);
    const service = new ServiceProcess(baseUrl, logFile, child, exitCodeOf(child));
    try {
      await service.becomeReady(surroundings.signal);
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  /** Asks the service to stop, and kills it if it does not. Returns its exit code or the signal's name. */
  async stop(): Promise<number | string> {
    const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MILLISECONDS);
    this.child.kill('SIGTERM');
    return this.exited.finally(() => clearTimeout(patience));
  }

  /** The end of the service's log. */
  lastOutput(): string {
    const lines = readFileSync(this.logFile, 'utf8').trimEnd().split('\n');
    return lines.slice(-SHOWN_LOG_LINES).join('\n');
  }

  private async becomeReady(signal: AbortSignal | undefined): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MILLISECONDS;
    while (!(await this.isReady())) {
      signal?.throwIfAborted();
      if (this.hasExited()) throw new Error(`The service stopped while starting:\n${this.lastOutput()}`);
      if (Date.now() > deadline) throw new Error(`The service is not ready:\n${this.lastOutput()}`);
      await pause(POLL_INTERVAL_MILLISECONDS);
    }
  }

  private hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private async isReady(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MILLISECONDS);
      const answer = await fetch(new URL('/healthz/readiness', this.baseUrl), { signal });
      await answer.text();
      return answer.status === 200;
    } catch {
      return false;
    }
  }
}

function spawnNode(
  surroundings: ServiceSurroundings,
  script: string,
  args: string[],
  stdio: StdioOptions,
): ChildProcess {
  const { packageRoot, directory, environment, signal } = surroundings;
  // Several services may run at once and cannot share one metrics port.
  const env = { SVC_METRICS_PORT: '0', ...environment };
  const options = { cwd: directory, env, stdio, signal };
  return spawn(process.execPath, [join(packageRoot, script), ...args], options);
}

/** Waits until the process has ended. An abort reports an error earlier. */
async function exitCodeOf(child: ChildProcess): Promise<number | string> {
  child.on('error', () => undefined);
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}
