// What becomes of connections when the HTTP server leaves.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { GracefulShutdown } from '../../../../src/platform/http/graceful-shutdown.js';

const SLOW_MS = 1_500;

describe('[D93] the shutdown of a server', () => {
  let server: FastifyInstance;
  let shutdown: GracefulShutdown;
  let socket: Socket;

  beforeEach(async () => {
    server = fastify({ return503OnClosing: false });
    shutdown = new GracefulShutdown();
    shutdown.watch(server);
    server.get('/fast', () => 'fast');
    server.get('/slow', async () => {
      await pause(SLOW_MS);
      return 'slow';
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
  });
  afterEach(() => socket.destroy());

  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: instance.example\r\n\r\n`;
  const answered = async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  };

  it('a request that came behind another on its connection has its answer, however long it takes', async () => {
    socket.write(request('/fast') + request('/slow'));
    await once(socket, 'readable');
    const finished = shutdown.finish();
    const text = await answered();
    await finished;
    expect(text).toContain('fast');
    expect(text).toContain('slow');
  });

  it('connections that nothing, or half of a request, has come on do not hold it up', async () => {
    const half = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    half.on('error', () => undefined).write('GET /fast HTTP/1.1\r\n');
    await once(half, 'connect');
    const startedAt = performance.now();
    await shutdown.finish();
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    half.destroy();
  });
});
