// Thousands of requests that never end, in a process with 256 MiB of heap: it lives, and serves others meanwhile.
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { exchangeAt, surroundingsOf } from '../support/built-service.js';
import { MetricSamples } from '../support/metric-samples.js';
import { whenMeasured } from '../support/series.js';
import { describeWithProcesses } from '../support/service-cluster.js';
import { GRANT_TYPE } from '../support/test-service.js';
import { until } from '../support/until.js';

const PATH = '/rest/auth/oauth/token';
const FORM = 'application/x-www-form-urlencoded';
/** Only a hang reaches it. */
const HANG_MS = 120_000;
/** As many exchanges of others there are at least while the requests wait. */
const LEAST_EXCHANGES = 100;
const LONGEST_DELAY_SECONDS = 10;
const MOST_RESIDENT_BYTES = 480 * 2 ** 20;
const SMALL_POSTS = 2_000;

const head = (bodyBytes: number, more = '') =>
  `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: ${bodyBytes}\r\n${more}\r\n`;
const tinyHeaders = (count: number) => Array.from({ length: count }, (_, at) => `h${at}: a\r\n`).join('');
/** What each of so many connections sends before it falls silent. */
const LOADS: [what: string, connections: number, sent: string][] = [
  ['195 tiny headers and one byte of a body', 8_840, `${head(100, tinyHeaders(195))}a`],
  ['as many tiny headers as are taken, and one byte of a body', 8_840, `${head(100, tinyHeaders(95))}a`],
  ['tiny headers without an end', 8_840, head(100, tinyHeaders(1_500)).slice(0, -2)],
  ['16,000 bytes of a body', 8_000, head(16_001) + 'a'.repeat(16_000)],
];

describeWithProcesses('[B.unfinished][B.connections] requests that never end', (database) => {
  let service: ServiceProcess;
  let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
  let partner: Partner;

  beforeAll(async () => {
    surroundings = await surroundingsOf({
      ...database.environment,
      SVC_HOST: '127.0.0.1',
      // A machine that is slow must not be taken for a database that does not answer.
      SVC_DATABASE_WAIT_MS: '30000',
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
      NODE_OPTIONS: '--max-old-space-size=256',
    });
    partner = Partner.create({ issuer: 'https://partner.example', audience: surroundings.baseUrl });
    surroundings.environment['SVC_TOKEN_EXCHANGE_TRUSTED_KEYS'] = JSON.stringify([partner.staticEntry()]);
    service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  const exchange = async () => (await exchangeAt(surroundings.baseUrl, partner.sign())).status;
  const open = (sent: string): Socket => {
    const socket = connect(Number(new URL(surroundings.baseUrl).port), '127.0.0.1').resume();
    socket.on('error', () => undefined).write(sent);
    return socket;
  };

  it.each(LOADS)('%s: the process lives, and answers others', async (_, connections, sent) => {
    // Their connection is there before the others come.
    expect(await exchange()).toBe(200);
    const sockets = Array.from({ length: connections }, () => open(sent));
    for (let count = 0; count < LEAST_EXCHANGES; count += 1) expect(await exchange()).toBe(200);
    // On a busy machine it takes longer until so many are there.
    let samples = await MetricSamples.at(surroundings.metricsUrl);
    await until('connections are refused', HANG_MS, async () => {
      expect(await exchange()).toBe(200);
      samples = await MetricSamples.at(surroundings.metricsUrl);
      return samples.value('svc_connections_refused_total') > 0;
    });
    for (const socket of sockets) socket.destroy();
    whenMeasured(() => {
      expect(samples.value('nodejs_eventloop_lag_max_seconds')).toBeLessThan(LONGEST_DELAY_SECONDS);
      expect(samples.value('process_resident_memory_bytes')).toBeLessThan(MOST_RESIDENT_BYTES);
    });
  });

  it(`${SMALL_POSTS} small posts at once are all answered, each with a part of it under way when the last one begins`, async () => {
    const form = new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: partner.sign() }).toString();
    const sockets = Array.from({ length: SMALL_POSTS }, () =>
      open(head(form.length, 'Connection: close\r\n') + form.slice(0, -1)),
    );
    const answers = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          let text = '';
          socket.setEncoding('latin1').on('data', (part: string) => (text += part));
          socket.once('close', () => resolve(text.split(' ', 2)[1] ?? ''));
        }),
    );
    await pause(1_000);
    for (const socket of sockets) socket.write(form.slice(-1));
    const statuses = await Promise.all(answers);
    // One token passes once; 503 would say that too many are in progress.
    expect(new Set(statuses)).toEqual(new Set(['200', '400']));
  });
});
