// Clients that send thousands of requests ahead of their answers and read none: nobody else is held up by them.
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { exchangeAt, surroundingsOf } from '../support/built-service.js';
import { MetricSamples } from '../support/metric-samples.js';
import { whenMeasured } from '../support/series.js';
import { describeWithProcesses } from '../support/service-cluster.js';

const CONNECTIONS = 20;
const REQUESTS = 2_000;
const EXCHANGES = 50;
const MOST_TIMES = 5;
const MOST_BYTES = 300 * 2 ** 20;
const ROUTES = [
  '/',
  '/embed.js',
  '/.well-known/jwks.json',
  '/.well-known/oauth-authorization-server',
  '/api/v1/openapi.json',
  '/api/v1/docs',
  '/api/v1/docs/swagger-ui-bundle.js',
  '/healthz',
  '/healthz/readiness',
  '/nothing',
];

describeWithProcesses(
  `[D124] ${CONNECTIONS} connections with ${REQUESTS} requests each, whose answers nobody reads`,
  (database) => {
    let service: ServiceProcess;
    let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
    let partner: Partner;

    beforeAll(async () => {
      surroundings = await surroundingsOf({ ...database.environment, SVC_HOST: '127.0.0.1' });
      partner = Partner.create({ issuer: 'https://partner.example', audience: surroundings.baseUrl });
      surroundings.environment['SVC_TOKEN_EXCHANGE_TRUSTED_KEYS'] = JSON.stringify([partner.staticEntry()]);
      surroundings.environment['SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE'] = '1000000';
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
      await medianMs();
    });
    afterAll(async () => {
      await service?.stop();
      rmSync(surroundings.directory, { recursive: true, force: true });
    });

    /** Of exchanges one after the other. */
    const medianMs = async () => {
      const took: number[] = [];
      for (const token of Array.from({ length: EXCHANGES }, () => partner.sign())) {
        const beganAt = performance.now();
        const { status } = await exchangeAt(surroundings.baseUrl, token);
        took.push(performance.now() - beganAt);
        expect(status).toBe(200);
      }
      return took.toSorted((one, other) => one - other)[EXCHANGES / 2] ?? NaN;
    };

    const sendAll = (path: string): Socket => {
      const { port } = new URL(surroundings.baseUrl);
      const socket = connect(Number(port), '127.0.0.1').pause();
      socket.on('error', () => undefined);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(REQUESTS));
      return socket;
    };

    it.each(ROUTES)('hold up no exchange beside, and take little memory, at %s', async (path) => {
      const idleMs = await medianMs();
      const sockets = Array.from({ length: CONNECTIONS }, () => sendAll(path));
      const timesAsLong = (await medianMs()) / idleMs;
      const samples = await MetricSamples.at(surroundings.metricsUrl);
      for (const socket of sockets) socket.destroy();
      whenMeasured(() => {
        expect(timesAsLong).toBeLessThanOrEqual(MOST_TIMES);
        expect(samples.value('process_resident_memory_bytes')).toBeLessThan(MOST_BYTES);
      });
    });
  },
);
