// Runs one of the measured programs as a child process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Keycloak makes its tables first, which takes minutes on a busy machine. */
const READY_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 15_000;
const POLL_INTERVAL_MS = 50;
const ANSWER_TIMEOUT_MS = 2_000;
const SHOWN_LOG_CHARACTERS = 3_000;

export class ServerProcess {
  /**
   * Starts the program; it is not ready yet.
   * @param command the program, where it is no `script` of Node.js @param node the Node.js binary for a script
   */
  constructor({ script, node = process.execPath, command = node, args = [script], ...surroundings }) {
    const { environment, folder, origin } = surroundings;
    this.origin = origin;
    this.logFile = join(folder, 'output.log');
    // A file costs the program the least, and nobody has to read it meanwhile.
    const log = openSync(this.logFile, 'a');
    this.child = spawn(command, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
      stdio: ['ignore', log, log],
      // The interrupt key of a terminal reaches the benchmark only, which then stops its servers.
      detached: true,
    });
    closeSync(log);
    this.ended = once(this.child, 'close');
  }

  get processId() {
    return this.child.pid;
  }

  get isRunning() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The end of what the program printed. */
  lastOutput() {
    return readFileSync(this.logFile, 'utf8').slice(-SHOWN_LOG_CHARACTERS);
  }

  async stop() {
    // Its whole group: a script that starts the real program would leave it behind.
    const patience = setTimeout(() => process.kill(-this.processId, 'SIGKILL'), STOP_TIMEOUT_MS);
    this.child.kill('SIGTERM');
    await this.ended;
    clearTimeout(patience);
  }

  /** @param path answers 200 as soon as the program is ready */
  async becomesReady(path) {
    const url = new URL(path, this.origin);
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (!(await answers(url))) {
      if (!this.isRunning) throw new Error(`A server ended while starting:\n${this.lastOutput()}`);
      if (Date.now() > deadline) throw new Error(`A server is not ready:\n${this.lastOutput()}`);
      await delay(POLL_INTERVAL_MS);
    }
  }
}

async function answers(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    await answer.text();
    return answer.status === 200;
  } catch {
    return false;
  }
}
