// The driver's bytes reach the embedded engine: joint writes arrive as one piece, and each is answered before the next.
import pg from 'pg';
import { serialize } from 'pg-protocol';
import { EngineSocket } from '../../../../../src/platform/database/embedded/engine-socket.js';
import type { Engine } from '../../../../../src/platform/database/embedded/engine.js';

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

describe('a connection to the embedded engine', () => {
  let engine: NotingEngine;
  let client: pg.Client;

  beforeEach(async () => {
    engine = new NotingEngine();
    client = new pg.Client({ stream: () => new EngineSocket(engine), ssl: false });
    await client.connect();
  });

  it('opens without a query to the engine', () => {
    expect(engine.asked).toEqual([]);
  });

  it('sends a prepared statement in one piece', async () => {
    const answer = client.query({ name: 'one', text: 'SELECT $1::int', values: [1] });
    await aMoment();
    expect(engine.asked).toHaveLength(1);
    const sent = [
      serialize.parse({ name: 'one', text: 'SELECT $1::int', types: [] }),
      serialize.bind({ portal: '', statement: 'one', values: ['1'] }),
      serialize.describe({ type: 'P', name: '' }),
      serialize.execute({ portal: '', rows: 0 }),
      serialize.sync(),
    ];
    expect(engine.asked[0]).toBe(Buffer.concat(sent).toString('latin1'));
    await engine.answer(READY);
    await answer;
  });

  it('sends queued writes together once the answer is complete', async () => {
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

  it("ends without ending the engine's session", async () => {
    await client.end();
    expect(engine.asked).toEqual([]);
  });

  it('breaks if the engine fails', async () => {
    const errors: Error[] = [];
    client.on('error', (error) => errors.push(error));
    const answer = client.query('SELECT 1');
    const refusal = expect(answer).rejects.toThrow('gone');
    await aMoment();
    await engine.fail(new Error('gone'));
    await refusal;
    await expect(client.query('SELECT 2')).rejects.toThrow();
  });
});
