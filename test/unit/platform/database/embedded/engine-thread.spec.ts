// The embedded engine's thread: responses in order, and reports of an unexpected end.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unavailabilityOf } from '../../../../../src/platform/database/database-error.js';
import { startEngineThread } from '../../../../../src/platform/database/embedded/engine-thread.js';

const DIRECTORY = '/nowhere';
const bytes = (text: string) => new TextEncoder().encode(text);

describe("the embedded engine's thread", () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'engine-thread-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A thread without an engine, which runs `onMessage` for each request. */
  function threadThat(name: string, onMessage: string, start = `parentPort.postMessage('ready');`): string {
    const file = join(folder, `${name}.mjs`);
    const lines = [
      `import { parentPort, workerData } from 'node:worker_threads';`,
      `parentPort.on('message', (message) => { ${onMessage} });`,
      start,
    ];
    writeFileSync(file, lines.join('\n'));
    return file;
  }

  it('ignores preloaded modules of the process, and ends with its engine', async () => {
    const preload = join(folder, 'preload.cjs');
    writeFileSync(preload, 'globalThis.isPreloaded = true; setInterval(() => undefined, 1_000);');
    const file = threadThat(
      'preloaded',
      `if (message === 'close') process.exit(0);
       else parentPort.postMessage(new TextEncoder().encode(String(globalThis.isPreloaded)));`,
    );
    const { NODE_OPTIONS: before } = process.env;
    process.env['NODE_OPTIONS'] = `--require ${preload}`;
    try {
      const engine = await startEngineThread(file, DIRECTORY);
      expect(new TextDecoder().decode(await engine.ask(bytes('preloaded?')))).toBe('undefined');
      await engine.close();
    } finally {
      if (before === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = before;
    }
  });

  it('fails the start with the cause', async () => {
    const file = threadThat('unable', '', `throw new Error('no such disk');`);
    await expect(startEngineThread(file, DIRECTORY)).rejects.toThrow('no such disk');
  });

  it.each([
    ['a fault', `throw new Error('out of luck');`, 'out of luck'],
    ['an exit', `process.exit(7);`, 'has ended with 7'],
  ])(
    '[D98] reports an end by %s to waiting callers, new callers and the process',
    async (name, act, cause) => {
      const engine = await startEngineThread(threadThat(name.replace(' ', '-'), act), DIRECTORY);
      const waiting = [engine.ask(bytes('one')), engine.ask(bytes('two'))];
      for (const answer of await Promise.allSettled(waiting))
        expect(String((answer as PromiseRejectedResult).reason)).toContain(cause);
      expect((await engine.failed).message).toContain(cause);
      await expect(engine.ask(bytes('three'))).rejects.toThrow(cause);
      // The same code as for a lost server, so that requests get 503 (D49).
      expect(unavailabilityOf(await engine.ask(bytes('four')).catch((error: unknown) => error))).toBe(
        'connection_lost',
      );
    },
  );
});
