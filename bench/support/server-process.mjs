// Runs one of the measured programs as a child process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection, requestBytes } from './connection.mjs';
import { untilTrue } from './until.mjs';

/** Keycloak creates its tables first, which takes minutes on a busy machine. */
const READY_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 15_000;
const ANSWER_TIMEOUT_MS = 2_000;
const SHOWN_LOG_CHARACTERS = 3_000;

export class ServerProcess {
  /**
   * Starts the program without waiting until it is ready.
   * @param command the program, if it is not a Node.js `script` @param node the Node.js binary for a script
   */
  constructor({ script, node = process.execPath, command = node, args = [script], ...surroundings }) {
    const { environment, folder, origin } = surroundings;
    this.origin = origin;
    this.logFile = join(folder, 'output.log');
    // Writing to a file is cheapest for the program and needs no reader.
    const log = openSync(this.logFile, 'a');
    this.child = spawn(command, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
      stdio: ['ignore', log, log],
      // Ctrl-C reaches only the benchmark, which then stops its servers.
      detached: true,
    });
    closeSync(log);
    this.ended = once(this.child, 'close');
    // A failed start rejects `ended`. Without this handler, it could end the benchmark before the cleanup.
    this.ended.catch(() => undefined);
  }

  get processId() {
    return this.child.pid;
  }

  get isRunning() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The end of the program's output. */
  lastOutput() {
    return readFileSync(this.logFile, 'utf8').slice(-SHOWN_LOG_CHARACTERS);
  }

  async stop() {
    // Kills the whole process group, because a script may have started the real program.
    const patience = setTimeout(() => process.kill(-this.processId, 'SIGKILL'), STOP_TIMEOUT_MS);
    this.child.kill('SIGTERM');
    await this.ended;
    clearTimeout(patience);
  }

  /** @param path responds with 200 when the program is ready */
  async becomesReady(path, askEveryMs) {
    const failure = () => `A server is not ready:\n${this.lastOutput()}`;
    const question = requestBytes(this.origin, { method: 'GET', path });
    const ask = async () => {
      if (!this.isRunning) throw new Error(failure());
      // A refused connection is cheap, so frequent requests do not slow the start down.
      const connection = new Connection(this.origin, ANSWER_TIMEOUT_MS);
      const { status } = await connection.send(question);
      connection.close();
      return status === 200;
    };
    await untilTrue(READY_TIMEOUT_MS, failure, ask, askEveryMs);
  }
}
