// Sends requests from a thread of its own, and tells how long the main thread, where the service runs, worked for each.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** What the kernel tells of the main thread: its time on a processor, in nanoseconds, comes first. */
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`;

/** Why nothing can be measured here; undefined where it can. */
export const unmeasurable = existsSync(MAIN_THREAD) ? undefined : `the system has no ${MAIN_THREAD}`;

export interface MeasuredRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface MeasuredAnswer {
  readonly status: number;
  /** Length of the answer's body. */
  readonly bytes: number;
  /** Processor time of the main thread from the sending to the end of the answer, in milliseconds. */
  readonly cpuMs: number;
}

/** The client's program. What it does must not count as the service's, so it shares nothing with the main thread. */
const CLIENT = `
const { parentPort, workerData } = require('node:worker_threads');
const http = require('node:http');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const { hostname, port } = new URL(workerData);
parentPort.on('message', ({ method, path, headers, body }) => {
  const end = (answer) => parentPort.postMessage(answer);
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const request = http.request({ agent, hostname, port, method, path, headers: { ...headers, ...length } }, (response) => {
    let bytes = 0;
    response.on('data', (chunk) => (bytes += chunk.length));
    response.on('end', () => end({ status: response.statusCode, bytes }));
    response.on('error', () => end({ status: 0, bytes }));
  });
  request.on('error', () => end({ status: 0, bytes: 0 }));
  request.end(body);
});`;

export class MeasuredClient {
  private readonly worker: Worker;

  /** @param address of the service, which runs in this process */
  constructor(address: string) {
    this.worker = new Worker(CLIENT, { eval: true, workerData: address });
  }

  /** Status 0 stands for a connection that was closed without an answer. */
  async send(request: MeasuredRequest): Promise<MeasuredAnswer> {
    const answered = once(this.worker, 'message') as Promise<[Omit<MeasuredAnswer, 'cpuMs'>]>;
    const before = mainThreadMs();
    this.worker.postMessage(request);
    const [answer] = await answered;
    return { ...answer, cpuMs: mainThreadMs() - before };
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }
}

/**
 * The main thread's time on a processor so far, in milliseconds; without the system's figures, of the clock.
 * Other programs on the machine do not add to it.
 */
export function mainThreadMs(): number {
  if (unmeasurable !== undefined) return performance.now();
  const [nanoseconds = '0'] = readFileSync(MAIN_THREAD, 'utf8').split(' ', 1);
  return Number(nanoseconds) / 1e6;
}
