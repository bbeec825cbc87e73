// Attacks on the memory of a process with 512 MiB, by as many connections as it allows: it lives, and answers others meanwhile.
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { exchangeAt, surroundingsOf } from '../support/built-service.js';
import { MetricSamples } from '../support/metric-samples.js';
import { sizeOf } from '../support/series.js';
import { describeWithProcesses } from '../support/service-cluster.js';

/** A process has 4,096 connections. 16 are left for those who are served meanwhile. */
const CONNECTIONS = 4_096 - 16;
/** Of 512 MiB of a container Node.js takes half for its heap. */
const HEAP = '--max-old-space-size=256 --max-semi-space-size=16';
const MAX_RESIDENT_BYTES = 512 * 2 ** 20;
const HEADER_LIMIT_BYTES = 16 * 1024;
const WATCHED_MS = sizeOf({ small: 2_000, whole: 10_000 });
const BYTE_EVERY_MS = 200;
const MAX_MS = 10_000;

const FORM = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 140000\r\n';
const tinyHeaders = (count: number) => Array.from({ length: count }, (_, at) => `h${at}: a\r\n`).join('');
const post = (more: string) => `POST /rest/auth/oauth/token HTTP/1.1\r\nHost: a\r\n${FORM}${more}`;
const LARGEST = '/api/v1/docs/swagger-ui-bundle.js';

interface Attack {
  readonly what: string;
  readonly connections: number;
  readonly sent: string;
  /** Sent byte by byte afterwards. */
  readonly drips?: boolean;
  readonly isUnread?: boolean;
}

const ATTACKS: readonly Attack[] = [
  {
    what: 'headers up to the limit, without an end',
    connections: CONNECTIONS,
    sent: post('')
      .concat(tinyHeaders(3_000))
      .slice(0, HEADER_LIMIT_BYTES - 100),
  },
  {
    what: '195 tiny headers, and a body byte by byte',
    connections: CONNECTIONS,
    sent: `${post(tinyHeaders(190))}\r\n`,
    drips: true,
  },
  {
    what: '95 tiny headers, and a body byte by byte',
    connections: CONNECTIONS,
    sent: `${post(tinyHeaders(95))}\r\n`,
    drips: true,
  },
  {
    what: '130,000 bytes of a body, without an end',
    connections: CONNECTIONS,
    sent: `${post('')}\r\n${'a'.repeat(130_000)}`,
  },
  ...[LARGEST, '/api/v1/openapi.json', '/nothing'].map((path) => ({
    what: `16 pipelined requests for ${path} on 500 connections whose answers nobody reads`,
    connections: 500,
    sent: `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(16),
    isUnread: true,
  })),
];

describeWithProcesses('[B.unfinished][B.connections][D124] a process with 512 MiB', (database) => {
  let service: ServiceProcess;
  let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
  let partner: Partner;

  beforeEach(async () => {
    surroundings = await surroundingsOf({
      ...database.environment,
      SVC_HOST: '127.0.0.1',
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
      NODE_OPTIONS: HEAP,
    });
    partner = Partner.create({ issuer: 'https://partner.example', audience: surroundings.baseUrl });
    surroundings.environment['SVC_TOKEN_EXCHANGE_TRUSTED_KEYS'] = JSON.stringify([partner.staticEntry()]);
    service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
  });
  afterEach(async () => {
    await service?.stop();
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  it.each(ATTACKS)('survives $connections times $what', async ({ connections, sent, drips, isUnread }) => {
    const tookMs: number[] = [];
    const residentBytes: number[] = [];
    const exchange = async () => {
      const beganAt = performance.now();
      const { status } = await exchangeAt(surroundings.baseUrl, partner.sign());
      tookMs.push(performance.now() - beganAt);
      return status;
    };
    expect(await exchange()).toBe(200);
    const sockets = Array.from({ length: connections }, () => {
      const socket = connect(Number(new URL(surroundings.baseUrl).port), '127.0.0.1');
      if (isUnread === true) socket.pause();
      else socket.resume();
      socket.on('error', () => undefined).write(sent);
      return socket;
    });
    const dripping = drips === true ? setInterval(() => drip(sockets), BYTE_EVERY_MS) : undefined;
    const endsAt = performance.now() + WATCHED_MS;
    while (performance.now() < endsAt) {
      expect(await exchange()).toBe(200);
      const samples = await MetricSamples.at(surroundings.metricsUrl);
      residentBytes.push(samples.value('process_resident_memory_bytes'));
      await pause(50);
    }
    clearInterval(dripping);
    for (const socket of sockets) socket.destroy();
    expect(Math.max(...residentBytes)).toBeLessThan(MAX_RESIDENT_BYTES);
    expect(Math.max(...tookMs)).toBeLessThan(MAX_MS);
  });
});

function drip(sockets: readonly Socket[]): void {
  for (const socket of sockets) if (socket.writable) socket.write('a');
}
