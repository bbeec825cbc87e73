// Inspects a running Node.js process: its heap after garbage collection, its handles and its open files.
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'undici';

/** Let the process listen for an inspector, on a free port of this machine. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const ANNOUNCED = /Debugger listening on (ws:\S+)/g;
const PATIENCE_MS = 60_000;
const HELD =
  'JSON.stringify({ ...process.memoryUsage(), pid: process.pid, resources: process.getActiveResourcesInfo() })';

/** What a process holds at one moment. */
export interface Holdings {
  readonly heapUsed: number;
  readonly rss: number;
  /** Active timers, including Node.js's own. */
  readonly timers: number;
  /** Everything else that keeps a process alive: connections, servers, requests. */
  readonly handles: number;
  readonly files: number;
}

export class ProcessInspector {
  private lastId = 0;

  private constructor(private readonly socket: WebSocket) {}

  /** @param output the process's output so far, which contains the inspector's address */
  static async attach(output: string): Promise<ProcessInspector> {
    const url = [...output.matchAll(ANNOUNCED)].at(-1)?.[1];
    if (url === undefined) throw new Error('the process has not said where it can be looked into');
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    return new ProcessInspector(socket);
  }

  /** After a garbage collection of everything. */
  async holdings(): Promise<Holdings> {
    await this.ask('HeapProfiler.collectGarbage');
    const answer = await this.ask('Runtime.evaluate', { expression: HELD, returnByValue: true });
    const { result } = answer as { result: { value: string } };
    const { heapUsed, rss, pid, resources } = JSON.parse(result.value) as {
      heapUsed: number;
      rss: number;
      pid: number;
      resources: string[];
    };
    const timers = resources.filter((name) => name === 'Timeout').length;
    const files = readdirSync(`/proc/${pid}/fd`).length;
    return { heapUsed, rss, timers, handles: resources.length - timers, files };
  }

  close(): void {
    this.socket.close();
  }

  private async ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.lastId;
    const gone = new AbortController();
    try {
      const answered = new Promise((resolve) => {
        const hear = ({ data }: { data: unknown }) => {
          const message = JSON.parse(String(data)) as { id?: number; result?: unknown };
          if (message.id === id) resolve(message.result);
        };
        this.socket.addEventListener('message', hear, { signal: gone.signal });
      });
      this.socket.send(JSON.stringify({ id, method, params }));
      const late = pause(PATIENCE_MS, undefined, { signal: gone.signal }).then(() => {
        throw new Error(`the process does not answer ${method}`);
      });
      return await Promise.race([answered, late]);
    } finally {
      gone.abort();
    }
  }
}
