// Whom a server sends away that has as many requests in progress as it may have, and how.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { Admission } from '../../../src/http/admission.js';
import { Departure } from '../../../src/http/departure.js';
import { until } from '../../support/until.js';

describe('[D102] a server with one request in progress, which is all it may have', () => {
  let server: FastifyInstance;
  let departure: Departure;
  let address: string;
  let shed: number;
  let endWork: () => void;
  let work: Promise<Response>;
  /** Those that came as far as to Fastify. */
  let seen: string[];

  beforeEach(async () => {
    server = fastify();
    departure = new Departure();
    shed = 0;
    seen = [];
    const admission = new Admission(1, { warn: () => undefined, debug: () => undefined }, () => (shed += 1));
    admission.watch(server, departure);
    server.addHook('onRequest', (request, _reply, done) => {
      seen.push(request.url);
      done();
    });
    // The guard of all routes, as Nest would ask it.
    server.addHook('preHandler', (request, _reply, done) => {
      admission.canActivate(new ExecutionContextHost([request]));
      done();
    });
    const ended = new Promise<void>((resolve) => (endWork = resolve));
    server.get('/work', async () => {
      server.server.emit('begun');
      await ended;
      return 'done';
    });
    for (const path of ['/healthz', '/other']) server.get(path, () => 'there');
    await server.listen({ port: 0, host: '127.0.0.1' });
    address = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
    work = fetch(`${address}/work`);
    await once(server.server, 'begun');
  });
  afterEach(async () => {
    endWork();
    await work;
    await server.close();
  });

  it('answers another itself, by its headers, with its id and as no store may keep it', async () => {
    const answer = await fetch(`${address}/other`, {
      method: 'POST',
      body: 'a=b',
      headers: { 'x-request-id': 'of-the-client-1' },
    });
    expect(answer.status).toBe(503);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'retry-after': '5',
      'x-request-id': 'of-the-client-1',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'content-type': 'application/json; charset=utf-8',
      connection: 'keep-alive',
    });
    const message = 'The service has as many requests in progress as it takes; send it again later';
    expect(await answer.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: message,
      message,
      requestId: 'of-the-client-1',
    });
    expect([shed, seen]).toEqual([1, ['/work']]);
  });

  it.each(['/no-such-path', '/other?answer=pages', '/healthz/no-such-path'])(
    'sends %s away',
    async (path) => {
      expect([(await fetch(address + path)).status, seen]).toEqual([503, ['/work']]);
    },
  );

  it('answers no body to a HEAD', async () => {
    const answer = await fetch(`${address}/other`, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([503, '']);
  });

  it.each([
    ['/healthz', 200],
    ['/healthz?verbose', 200],
    // Its own filter answers, as a page.
    ['/other?a=b&answer=page', 503],
  ])('lets %s through to Fastify', async (path, status) => {
    expect([(await fetch(address + path)).status, seen]).toEqual([status, ['/work', path]]);
  });

  it('[D93] ends the connections of those whom it sends away while it leaves', async () => {
    departure.begin();
    expect((await fetch(`${address}/other`)).headers.get('connection')).toBe('close');
  });

  it('takes the next as soon as the one has its answer', async () => {
    endWork();
    await work;
    expect((await fetch(`${address}/other`)).status).toBe(200);
  });
});

describe('[D102] a server that may have four requests in progress', () => {
  let server: FastifyInstance;
  let address: string;
  let working: { end: () => void; answer: Promise<Response> }[];

  beforeEach(async () => {
    server = fastify();
    working = [];
    const admission = new Admission(4, { warn: () => undefined, debug: () => undefined }, () => undefined);
    admission.watch(server);
    server.addHook('preHandler', (request, _reply, done) => {
      admission.canActivate(new ExecutionContextHost([request]));
      done();
    });
    server.get('/work', () => new Promise((resolve) => server.server.emit('begun', () => resolve('done'))));
    server.get('/other', () => 'there');
    await server.listen({ port: 0, host: '127.0.0.1' });
    address = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await end(working.length);
    await server.close();
  });

  async function begin(count: number): Promise<void> {
    for (; count > 0; count--) {
      const begun = once(server.server, 'begun') as Promise<[() => void]>;
      const answer = fetch(`${address}/work`);
      working.push({ end: (await begun)[0], answer });
    }
  }

  async function end(count: number): Promise<void> {
    for (const { end: finish, answer } of working.splice(0, count)) {
      finish();
      expect((await answer).status).toBe(200);
    }
  }

  const another = async () => (await fetch(`${address}/other`)).status;

  it('takes four of a burst, no more than two for a second after it has sent one away, and then more again, whoever asks meanwhile', async () => {
    await begin(3);
    expect(await another()).toBe(200);
    await begin(1);
    expect(await another()).toBe(503);
    await end(2);
    expect(await another()).toBe(503);
    await end(1);
    expect(await another()).toBe(200);
    await begin(1);
    // Those who are sent away meanwhile do not prolong it.
    await until('it takes more than two', 2_000, async () => (await another()) === 200);
  });
});
