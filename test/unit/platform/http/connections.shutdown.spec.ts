// The shutdown of the HTTP server: which connections it waits for, and which it closes.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { GracefulShutdown } from '../../../../src/platform/http/connections.js';
import { until } from '../../../support/until.js';

/** The time limit for responses that have begun. */
const ANSWERS_MS = 3_500;
const PATIENCE_MS = 60_000;

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
