// Connections of the HTTP server: which ones its shutdown waits for, and what unfinished requests keep of the memory.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { GracefulShutdown, UnfinishedRequests } from '../../../../src/platform/http/connections.js';
import { until } from '../../../support/until.js';

/** The time limit for responses that have begun. */
const ANSWERS_MS = 3_500;
const PATIENCE_MS = 60_000;
/** Connections are looked at more than once in that time. */
const SEEN_MS = 600;
const MAX_BYTES = 200 * 1024;
const BODY_LIMIT_BYTES = 64 * 1024;
const PART = 'a'.repeat(40 * 1024);

describe('[D93] the shutdown of a server', () => {
  let server: FastifyInstance;
  let shutdown: GracefulShutdown;
  let socket: Socket;
  let answerSlowly: () => void;

  beforeEach(async () => {
    // Only the test makes the time limit end.
    jest.useFakeTimers({ doNotFake: ['performance', 'nextTick', 'setImmediate', 'queueMicrotask'] });
    server = fastify({ return503OnClosing: false });
    shutdown = new GracefulShutdown();
    shutdown.watch(server);
    server.get('/fast', () => 'fast');
    server.get('/slow', () => new Promise((resolve) => (answerSlowly = () => resolve('slow'))));
    await server.listen({ port: 0, host: '127.0.0.1' });
    socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
  });
  afterEach(() => {
    socket.destroy();
    jest.useRealTimers();
  });

  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: instance.example\r\n\r\n`;
  const hasStopped = () => until('it does not listen', PATIENCE_MS, () => !server.server.listening);

  it("waits for a pipelined request's answer, however long it takes", async () => {
    let answers = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answers += text));
    socket.write(request('/fast') + request('/slow'));
    await until('the first is answered', PATIENCE_MS, () => answers.includes('fast'));
    const finished = shutdown.finish();
    await hasStopped();
    jest.advanceTimersByTime(ANSWERS_MS - 1);
    answerSlowly();
    await until('the other is answered too', PATIENCE_MS, () => answers.includes('slow'));
    jest.advanceTimersByTime(1);
    await finished;
  });

  it('does not wait for idle connections or half-sent requests', async () => {
    const half = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    half.on('error', () => undefined).write('GET /fast HTTP/1.1\r\n');
    await once(half, 'connect');
    const finished = shutdown.finish();
    await hasStopped();
    jest.advanceTimersByTime(ANSWERS_MS);
    await finished;
    half.destroy();
  });
});

describe('[B.unfinished] unfinished requests', () => {
  let unfinished: UnfinishedRequests;
  let server: FastifyInstance;
  let closed: number;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    closed = 0;
    unfinished = new UnfinishedRequests({ warn: () => undefined }, () => (closed += 1), MAX_BYTES);
    server = fastify({
      bodyLimit: BODY_LIMIT_BYTES,
      serverFactory: (handler) => createServer(unfinished.wrap(handler)),
    });
    unfinished.watch(server, BODY_LIMIT_BYTES);
    server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    server.post('/', (request) => String((request.body as Buffer).length));
    server.get('/', () => 'there');
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });

  const send = (text: string): Socket => {
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined).write(text);
    return socket.setEncoding('latin1');
  };
  const post = (bytes: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/x\r\nContent-Length: ${bytes}\r\n\r\n`;
  const counted = (count: number) =>
    until(`${count} unfinished`, PATIENCE_MS, () => unfinished.count === count);

  it('with stalled bodies: the oldest is closed, and the others are answered when complete', async () => {
    const oldest = send(post(PART.length + 1) + PART);
    await counted(1);
    const others = [send(post(PART.length + 1) + PART), send(post(PART.length + 1) + PART)];
    await counted(3);
    others.push(send(post(PART.length + 1) + PART));
    await once(oldest, 'close');
    await counted(3);
    for (const socket of others) {
      socket.write('a');
      expect(String(await once(socket, 'data'))).toContain(`\r\n\r\n${PART.length + 1}`);
    }
    expect([closed, unfinished.count]).toEqual([1, 0]);
  });

  it('with stalled headers count until they are complete', async () => {
    const oldest = send('GET / HTTP/1.1\r\n');
    await counted(1);
    const head = `GET / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(50)}`;
    const others = Array.from({ length: 8 }, () => send(head));
    await once(oldest, 'close');
    await until('no other is closed', PATIENCE_MS, () => closed > 0 && unfinished.count === 9 - closed);
    const last = others.at(-1)!;
    last.write('\r\n');
    expect(String(await once(last, 'data'))).toContain('there');
    await counted(8 - closed);
  });

  it('behind another request on the connection count once, when that one is complete', async () => {
    const socket = send(`${post(1)}a${post(3)}a`);
    await counted(1);
    socket.write('a');
    await pause(SEEN_MS);
    expect(unfinished.count).toBe(1);
    socket.write('a');
    await counted(0);
  });

  it('of disconnected clients no longer count, and bodies over the limit never do', async () => {
    const disconnected = send(`${post(2)}a`);
    await counted(1);
    disconnected.destroy();
    await counted(0);
    const socket = send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/x\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (let sent = 0; sent < 10; sent++) socket.write(`${PART.length.toString(16)}\r\n${PART}\r\n`);
    expect(String(await once(socket, 'data'))).toContain('413');
    expect(closed).toBe(0);
  });
});
