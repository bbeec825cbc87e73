// What becomes of connections when the HTTP server leaves.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { Departure } from '../../../../src/platform/http/departure.js';

const SLOW_MS = 1_500;

describe('[D93] the departure of a server', () => {
  let server: FastifyInstance;
  let departure: Departure;
  let socket: Socket;

  beforeEach(async () => {
    server = fastify({ return503OnClosing: false });
    departure = new Departure();
    departure.watch(server);
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
    const finished = departure.finish();
    const text = await answered();
    await finished;
    expect(text).toContain('fast');
    expect(text).toContain('slow');
  });

  // Node.js 26 takes it for idle, and ends it at once.
  const isIdle = Number(process.versions.node.split('.')[0]) >= 26;
  it(`a connection that nothing has come on ends ${isIdle ? 'at once' : 'after a second'}`, async () => {
    const startedAt = performance.now();
    await departure.finish();
    const tookMs = performance.now() - startedAt;
    if (isIdle) expect(tookMs).toBeLessThan(900);
    else expect(tookMs).toBeGreaterThan(900);
    expect(tookMs).toBeLessThan(3_000);
  });
});
