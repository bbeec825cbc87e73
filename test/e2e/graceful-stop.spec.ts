// The stop of the process: it is not ready at once, slow clients do not delay it, and no received request is lost.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { describeBuilt, exchangeAt, logOf, surroundingsOf, untilLogged } from '../support/built-service.js';
import { whenMeasured } from '../support/series.js';

const partner = Partner.create({ issuer: 'https://partner.example' });
/** What the process may take, and what a busy machine adds. */
const LONGEST_STOP_MS = 5_000;
const SPARE_MS = 10_000;

describeBuilt('[D93] the stop of a process', () => {
  let surroundings: ServiceSurroundings & { baseUrl: string };
  let service: ServiceProcess;
  let sockets: Socket[];

  const start = async (settings: Record<string, string> = {}) => {
    surroundings = await surroundingsOf({
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
      ...settings,
    });
    service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    sockets = [];
  };
  afterEach(async () => {
    sockets.forEach((socket) => socket.destroy());
    // Whatever a test left running ends by the second signal.
    service['child'].kill('SIGTERM');
    await service.stop();
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  const openSocket = async (bytes = ''): Promise<Socket> => {
    const socket = connect(Number(new URL(surroundings.baseUrl).port), '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    if (bytes !== '') socket.write(bytes);
    return socket;
  };
  const exchange = () => exchangeAt(surroundings.baseUrl, partner.sign());
  const readiness = async () => {
    const answer = await fetch(new URL('/healthz/readiness', surroundings.baseUrl));
    return { status: answer.status, body: (await answer.json()) as object };
  };
  const terminate = () => service['child'].kill('SIGTERM');
  /** @returns exit code and milliseconds */
  const stopTimed = async () => {
    const startedAt = performance.now();
    terminate();
    return { code: await service.exited, tookMs: performance.now() - startedAt };
  };

  it('a client that never reads its answers does not hold it up', async () => {
    await start();
    const request = 'GET /embed.js HTTP/1.1\r\nHost: instance.example\r\n\r\n';
    const deaf = await openSocket();
    deaf.pause();
    deaf.write(request.repeat(20_000));
    await pause(500);
    const { code, tookMs } = await stopTimed();
    expect(code).toBe(0);
    whenMeasured(() => expect(tookMs).toBeLessThan(LONGEST_STOP_MS + SPARE_MS));
  });

  it('with a delay: not ready at once, all else is answered meanwhile and ends its connection, then none', async () => {
    await start({ SVC_SHUTDOWN_DELAY_SECONDS: '3' });
    expect((await readiness()).status).toBe(200);
    const startedAt = performance.now();
    terminate();
    await untilLogged(service, /^stopping/);
    expect(await readiness()).toEqual({
      status: 503,
      body: { error: 'not_ready', message: 'The service is stopping', requestId: expect.any(String) },
    });
    const answer = await exchange();
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await service.exited).toBe(0);
    expect(performance.now() - startedAt).toBeGreaterThan(3_000);
    await expect(exchange()).rejects.toThrow('fetch failed');
  });

  it('a second signal ends it at once, with another exit code', async () => {
    await start({ SVC_SHUTDOWN_DELAY_SECONDS: '60' });
    terminate();
    await untilLogged(service, /^stopping/);
    const { code, tookMs } = await stopTimed();
    expect(code).toBe(1);
    whenMeasured(() => expect(tookMs).toBeLessThan(30_000));
    const lines = await logOf(service);
    expect(lines.at(-1)).toMatchObject({ msg: 'ended at once by a second signal', signal: 'SIGTERM' });
  });
});
