// The driver's bytes reach the embedded engine: joint writes arrive as one piece, and each is answered before the next.
import pg from 'pg';
import { serialize } from 'pg-protocol';
import type { Engine } from '../../../../../src/platform/database/embedded/engine.js';
import { EngineSocket } from '../../../../../src/platform/database/embedded/engine-socket.js';

const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const NEVER = new Promise<never>(() => undefined);

/** An engine that records its requests, and answers when the test says so. */
class NotingEngine implements Engine {
  readonly asked: string[] = [];
  readonly failed = NEVER;
  private readonly turns: { resolve: (answer: Uint8Array) => void; reject: (error: Error) => void }[] = [];

  ask(messages: Uint8Array): Promise<Uint8Array> {
    this.asked.push(Buffer.from(messages).toString('latin1'));
    return new Promise((resolve, reject) => this.turns.push({ resolve, reject }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async answer(bytes: Uint8Array): Promise<void> {
    this.turns.shift()?.resolve(bytes);
    await aMoment();
  }

  async fail(error: Error): Promise<void> {
    this.turns.shift()?.reject(error);
    await aMoment();
  }
}

const aMoment = () => new Promise((resolve) => setImmediate(resolve));

it('writes to the embedded engine wait for the answer before them, and are sent together', async () => {
  const engine = new NotingEngine();
  const socket = new EngineSocket(engine);
  socket.on('data', () => undefined);
  socket.write(serialize.startup({ user: 'somebody' }));
  for (const text of ['SELECT 1', 'SELECT 2', 'SELECT 3']) socket.write(serialize.query(text));
  await aMoment();
  expect(engine.asked).toEqual([serialize.query('SELECT 1').toString('latin1')]);
  await engine.answer(READY);
  const rest = Buffer.concat([serialize.query('SELECT 2'), serialize.query('SELECT 3')]);
  expect(engine.asked.slice(1)).toEqual([rest.toString('latin1')]);
});

it('[D98] a connection to the embedded engine breaks if the engine fails', async () => {
  const engine = new NotingEngine();
  const client = new pg.Client({ stream: () => new EngineSocket(engine), ssl: false });
  await client.connect();
  client.on('error', () => undefined);
  const refusal = expect(client.query('SELECT 1')).rejects.toThrow('gone');
  await aMoment();
  await engine.fail(new Error('gone'));
  await refusal;
  await expect(client.query('SELECT 2')).rejects.toThrow();
});
