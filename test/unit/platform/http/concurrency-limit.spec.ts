// Which requests a server refuses that has as many in progress as it may have, and how.
import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { ConcurrencyLimit } from '../../../../src/platform/http/concurrency-limit.js';
import { GracefulShutdown } from '../../../../src/platform/http/connections.js';
import { stateOf } from '../../../../src/platform/http/http-messages.js';
import { openPost } from '../../../support/built-service.js';
import { preparedAdapter } from '../../../support/http-server.js';
import { pause, until } from '../../../support/until.js';

const addressOf = ({ server }: FastifyInstance) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const PATIENCE_MS = 60_000;

describe('[D102] a server that is full with one request in progress', () => {
  let server: FastifyInstance;
  let shutdown: GracefulShutdown;
  let concurrency: ConcurrencyLimit;
  let address: string;
  let refused: number;
  let endWork: () => void;
  let work: Promise<Response>;
  /** Those that came as far as to Fastify. */
  let seen: string[];

  beforeEach(async () => {
    shutdown = new GracefulShutdown();
    refused = 0;
    seen = [];
    concurrency = new ConcurrencyLimit(1_800, pino({ level: 'silent' }), () => (refused += 1));
    concurrency.most = 1;
    server = preparedAdapter({ concurrency, shutdown }).getInstance();
    server.addHook('onRequest', (request, _reply, done) => {
      seen.push(request.url);
      done();
    });
    server.get('/work', async () => {
      const ended = new Promise<void>((resolve) => (endWork = resolve));
      server.server.emit('begun');
      await ended;
      return 'done';
    });
    for (const path of ['/healthz', '/healthz/readiness']) server.get(path, () => 'there');
    server.post('/other', () => 'there');
    await server.listen({ port: 0, host: '127.0.0.1' });
    address = addressOf(server);
    await begin();
  });
  const begin = async () => {
    work = fetch(`${address}/work`);
    await once(server.server, 'begun');
  };
  afterEach(async () => {
    endWork();
    await work;
    await server.close();
  });

  it('answers another request itself with the right headers, an id and no caching', async () => {
    const answer = await fetch(`${address}/other`, { method: 'POST', body: 'a=b' });
    expect(answer.status).toBe(503);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'retry-after': '5',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      connection: 'keep-alive',
    });
    const message = 'Too many requests are in progress; send the request again later';
    expect(await answer.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: message,
      message,
      requestId: answer.headers.get('x-request-id'),
    });
    expect([refused, seen]).toEqual([1, ['/work']]);
  });

  it.each(['/no-such-path', '/healthz/no-such-path', '/healthz-not'])('refuses %s', async (path) => {
    expect([(await fetch(address + path)).status, seen]).toEqual([503, ['/work']]);
  });

  it.each(['/healthz', '/healthz?verbose', '/healthz/readiness'])('answers %s', async (path) => {
    expect([(await fetch(address + path)).status, seen]).toEqual([200, ['/work', path]]);
  });

  it('[D93] closes the connections of refused requests while it stops', async () => {
    shutdown.begin();
    expect((await fetch(`${address}/other`)).headers.get('connection')).toBe('close');
  });

  it('counts a request from its last byte, and refuses it if the server is full by then', async () => {
    endWork();
    await work;
    const open = await openPost(`${address}/other`, { a: 'b' });
    expect(concurrency.count).toBe(0);
    await begin();
    expect([await open.finish(), concurrency.count, refused]).toEqual([503, 1, 1]);
  });
});

describe('[D102] a server with more requests than it processes at once', () => {
  const AT_ONCE = 200;
  const WAIT_MS = 800;
  /** Only setTimeout and performance are not. */
  const REAL = [
    'Date',
    'hrtime',
    'nextTick',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
    'setInterval',
    'clearInterval',
  ] as const;
  let server: FastifyInstance;
  let concurrency: ConcurrencyLimit;
  /** Those that are worked for, by their numbers. */
  let begun: Map<string, (status?: number) => void>;
  let requests: Map<string, object>;
  let answers: Promise<number>[];

  beforeEach(async () => {
    // Those of Node.js's own, by which requests come, are others.
    jest.useFakeTimers({ doNotFake: [...REAL] });
    concurrency = new ConcurrencyLimit(WAIT_MS, pino({ level: 'silent' }), () => undefined);
    server = preparedAdapter({ concurrency }).getInstance();
    begun = new Map();
    requests = new Map();
    answers = [];
    server.get<{ Querystring: { n: string } }>('/work', (request, reply) => {
      const { n } = request.query;
      stateOf(request).beginWait();
      requests.set(n, request);
      return new Promise((resolve) => begun.set(n, (status = 200) => resolve(reply.status(status).send(n))));
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    await send(0, AT_ONCE);
    await until('all of them are worked for', PATIENCE_MS, () => begun.size === AT_ONCE);
  });
  afterEach(async () => {
    await untilAnswered();
    jest.useRealTimers();
    await server.close();
  });

  /** 0 without an answer. Not by fetch, whose timers the test's clock stops. */
  const statusOf = (n: number | 'other', signal?: AbortSignal) =>
    new Promise<number>((resolve) => {
      const request = get(`${addressOf(server)}/work?n=${n}`, { signal, agent: false });
      request.on('error', () => resolve(0));
      request.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    });
  /** Resolves when all of them have come. */
  const send = async (first: number, count: number, signal?: AbortSignal) => {
    const before = concurrency.count;
    for (let n = first; n < first + count; n++) {
      answers.push(statusOf(n, signal));
    }
    await until('they have come', PATIENCE_MS, () => concurrency.count === before + count);
  };
  const end = (n: number, status?: number) => begun.get(String(n))?.(status);
  const untilAnswered = async () => {
    const whole = Promise.all(answers);
    while (concurrency.count > 0) {
      for (const finish of begun.values()) finish();
      await pause(5);
    }
    return whole;
  };

  it('processes queued requests in order, one for each answer', async () => {
    await send(AT_ONCE, 1);
    await send(AT_ONCE + 1, 1);
    expect([begun.size, concurrency.count]).toEqual([AT_ONCE, AT_ONCE + 2]);
    end(7);
    await until('the first has its turn', PATIENCE_MS, () => begun.has('200'));
    expect(begun.has('201')).toBe(false);
    expect(new Set(await untilAnswered())).toEqual(new Set([200]));
  });

  it('processes the next request once if one releases its slot', async () => {
    await send(AT_ONCE, 1);
    await send(AT_ONCE + 1, 1);
    stateOf(requests.get('7')!).releaseSlot?.();
    stateOf(requests.get('7')!).releaseSlot?.();
    await until('the first has its turn', PATIENCE_MS, () => begun.has('200'));
    end(7);
    await until('it is answered', PATIENCE_MS, () => concurrency.count === AT_ONCE + 1);
    await pause(50);
    expect(begun.has('201')).toBe(false);
  });

  it('skips a request whose client disconnected while it waited', async () => {
    const gone = new AbortController();
    await send(AT_ONCE, 1, gone.signal);
    gone.abort();
    const connections = promisify(server.server.getConnections.bind(server.server));
    await until('the server knows', PATIENCE_MS, async () => (await connections()) === AT_ONCE);
    end(7);
    await until('it is out of the count', PATIENCE_MS, () => concurrency.count === AT_ONCE - 1);
    expect(begun.has('200')).toBe(false);
  });

  it('refuses new requests once the oldest has waited half of its limit, and the oldest at its limit', async () => {
    await send(AT_ONCE, 1);
    jest.advanceTimersByTime(WAIT_MS / 2 + 1);
    expect(await statusOf('other')).toBe(503);
    jest.advanceTimersByTime(WAIT_MS / 2);
    end(7, 503);
    expect(await answers[AT_ONCE]).toBe(503);
    expect(begun.has('200')).toBe(false);
    expect(concurrency.count).toBe(AT_ONCE - 1);
  });

  it('waits longer than usual while other requests are answered', async () => {
    await send(AT_ONCE, 2);
    jest.advanceTimersByTime(WAIT_MS - 10);
    end(7);
    await until('the first has its turn', PATIENCE_MS, () => begun.has('200'));
    jest.advanceTimersByTime(WAIT_MS / 2 - 10);
    end(8);
    await until('the second has its turn', PATIENCE_MS, () => begun.has('201'));
    expect(new Set(await untilAnswered())).toEqual(new Set([200]));
  });
});
