// Runs the embedded engine in its own thread, so that its statements do not block requests.
import { Worker } from 'node:worker_threads';
import type { Engine } from './engine.js';

/** Messages to the thread. */
export type ToEngine = Uint8Array | 'close';
/** Messages from the thread: `ready` once the engine runs, then one response per message, in order. */
type FromEngine = 'ready' | Uint8Array;

interface Waiting {
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Starts the engine in its own thread.
 * @param file the built `engine.worker.js`
 * @throws the error of the engine's start
 */
export async function startEngineThread(file: string, directory: string): Promise<Engine> {
  // Preloaded code, such as a tracing SDK, is not loaded in the thread: it might keep the thread alive.
  const thread = new EngineThread(new Worker(file, { workerData: directory, execArgv: [], env: {} }));
  await thread.started;
  return thread;
}

/** The error for waiting messages. It looks like a lost server, so that requests get 503 (D49). */
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
