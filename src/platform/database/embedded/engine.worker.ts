// The embedded engine's worker thread: starts the engine, then answers one message at a time.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { startEngine } from './engine.js';
import type { ToEngine } from './engine-thread.js';

if (parentPort === null) throw new Error('this file must run as a worker thread of the embedded engine');
const port = parentPort;
const engine = await startEngine(workerData as string);
freeMemory();

/**
 * Frees the 400 MB of buffers that creating a database leaves. V8 would keep them while its own heap is
 * small.
 */
function freeMemory(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

async function answer(messages: Uint8Array): Promise<void> {
  const bytes = await engine.ask(messages);
  port.postMessage(bytes, [bytes.buffer as ArrayBuffer]);
}

/** In a worker, `process.exit` ends only the thread. */
async function end(): Promise<void> {
  await engine.close();
  process.exit(0);
}

/**
 * Ends the thread even if the process ignores rejections. Otherwise the answer to the next message would be
 * taken for the answer to this one.
 */
function fail(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

port.on('message', (message: ToEngine) => {
  (message === 'close' ? end() : answer(message)).catch(fail);
});
port.postMessage('ready');
