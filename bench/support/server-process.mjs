// Runs one of the measured programs as a child process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection, requestBytes } from './connection.mjs';
import { untilTrue } from './until.mjs';

/** Keycloak makes its tables first, which takes minutes on a busy machine. */
const READY_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 15_000;
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
    // Whoever waits for it is told; by itself a program that cannot be started must not end the benchmark before it has tidied up.
    this.ended.catch(() => undefined);
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
  async becomesReady(path, askEveryMs) {
    const failure = () => `A server is not ready:\n${this.lastOutput()}`;
    const question = requestBytes(this.origin, { method: 'GET', path });
    const ask = async () => {
      if (!this.isRunning) throw new Error(failure());
      // A refused connection costs next to nothing, so that asking often does not slow the start down.
      const connection = new Connection(this.origin, ANSWER_TIMEOUT_MS);
      const { status } = await connection.send(question);
      connection.close();
      return status === 200;
    };
    await untilTrue(READY_TIMEOUT_MS, failure, ask, askEveryMs);
  }
}
