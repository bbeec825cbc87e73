// Runs the embedded engine in a thread of its own, so that requests are served while it is at a statement.
import { Worker } from 'node:worker_threads';
import type { Engine, EngineSettings } from './engine.js';

/** Messages to the thread. */
export type ToEngine = Uint8Array | 'close';
/** Messages of the thread: that the engine runs, then one answer for each question, in order. */
type FromEngine = 'ready' | Uint8Array;

interface Waiting {
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Starts the engine in a thread of its own.
 * @param file the built `engine.worker.js`
 * @throws what the engine's start throws
 */
export async function startEngineThread(file: string, settings: EngineSettings): Promise<Engine> {
  // Code that was loaded before the service, such as an SDK of traces, stays out of the engine: it might keep the thread alive.
  const thread = new EngineThread(new Worker(file, { workerData: settings, execArgv: [], env: {} }));
  await thread.started;
  return thread;
}

/** Ends the waiting questions as a lost server does, so that requests get 503 (D49). */
function engineLost(cause: Error): Error {
  return Object.assign(new Error(cause.message, { cause }), { code: 'ECONNRESET' });
}

class EngineThread implements Engine {
  readonly started: Promise<void>;
  readonly failed: Promise<Error>;
  private readonly waiting: Waiting[] = [];
  private failure: Error | undefined;
  private isClosing = false;

  constructor(private readonly worker: Worker) {
    this.failed = new Promise((resolve) => {
      const fail = (error: Error) => {
        this.failure ??= engineLost(error);
        for (const { reject } of this.waiting.splice(0)) reject(this.failure);
        resolve(error);
      };
      worker.on('error', fail);
      worker.once('exit', (code) => {
        if (!this.isClosing) fail(new Error(`the thread of the embedded database has ended with ${code}`));
      });
    });
    this.started = new Promise((resolve, reject) => {
      worker.on('message', (message: FromEngine) => {
        if (message === 'ready') resolve();
        else this.waiting.shift()?.resolve(message);
      });
      void this.failed.then(reject);
    });
  }

  ask(messages: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) return reject(this.failure);
      this.waiting.push({ resolve, reject });
      this.worker.postMessage(messages, [messages.buffer as ArrayBuffer]);
    });
  }

  close(): Promise<void> {
    this.isClosing = true;
    return new Promise((resolve) => {
      this.worker.once('exit', () => resolve());
      this.worker.postMessage('close' satisfies ToEngine);
    });
  }
}
