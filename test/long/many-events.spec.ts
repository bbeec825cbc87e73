// Security events of made-up subjects, as many as the holder of a transmitter's key can send: the built service keeps them in little memory.
import { rmSync } from 'node:fs';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { describeBuilt, exchangeAt, surroundingsOf } from '../support/built-service.js';
import { describeOnPostgresql } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { MetricSamples } from '../support/metric-samples.js';
import { sizeOf, whenMeasured } from '../support/series.js';
import { EVENTS_PATH, TestTransmitter } from '../support/transmitter.js';
import { until } from '../support/until.js';

const SENT = sizeOf({ small: 300, whole: 100_000 });
const CONNECTIONS = 64;
/** Of an issuer; beyond that one row has all its logins. */
const MAX_ROWS = 50_000;
const HEAP_MIB = 192;
const MAX_RESIDENT_MIB = 400;
const PATIENCE_MS = 600_000;

jest.setTimeout(2 * 3_600_000);

describeBuilt('[D147] a service with a small heap', () => {
  describeOnPostgresql('and many security events', (database) => {
    const [busySet, calmSet] = [JwksServer.forBlock(), JwksServer.forBlock()];
    const partner = Partner.create({ issuer: 'https://partner.example' });
    let busy: TestTransmitter;
    let calm: TestTransmitter;
    let dataSource: OpenDatabase['dataSource'];
    let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
    let service: ServiceProcess;

    beforeAll(async () => {
      ({ dataSource } = await database.open());
      busy = new TestTransmitter('https://busy.example', busySet);
      calm = new TestTransmitter('https://calm.example', calmSet);
      for (const { keySet, provider } of [busy, calm]) keySet.publish(provider.jwks());
    });
    afterEach(async () => {
      // An overflow of the heap ends the process otherwise.
      expect(await service.stop()).toBe(0);
      rmSync(surroundings.directory, { recursive: true, force: true });
    });

    async function start(perMinute: number): Promise<void> {
      surroundings = await surroundingsOf({
        ...database.environment,
        SVC_PROXY_HOPS: '1',
        SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE: '127.0.0.0/8',
        SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '1',
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
        SVC_SIGNALS_TRANSMITTERS: JSON.stringify([busy.configured(), calm.configured()]),
        SVC_SIGNALS_PER_MINUTE: String(perMinute),
        SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
      });
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    }

    /** Each event has a subject and an address of its own. */
    function send(transmitter: TestTransmitter, n: number): Promise<number> {
      const now = Math.floor(Date.now() / 1000);
      const body = transmitter.token('sessions-revoked', now, transmitter.user(`made up ${n}`));
      const headers = {
        'content-type': 'application/secevent+jwt',
        authorization: `Bearer ${transmitter.secret}`,
        'x-forwarded-for': `10.${n >> 16}.${(n >> 8) % 256}.${n % 256}`,
      };
      return untilServed(async () => {
        const answer = await fetch(surroundings.baseUrl + EVENTS_PATH, { method: 'POST', body, headers });
        await answer.text();
        return answer.status;
      });
    }

    /** @param others how often others ask meanwhile, at most @returns how many events were answered with each status */
    async function sendAll(
      count: number,
      others = Number.POSITIVE_INFINITY,
    ): Promise<Record<number, number>> {
      const counts: Record<number, number> = {};
      let next = 0;
      const sendNext = async () => {
        while (next < count) {
          const status = await send(busy, next++);
          counts[status] = (counts[status] ?? 0) + 1;
        }
      };
      const askNext = async () => {
        for (let n = 0; n < others && next < count; n++) expect(await answersToOthers(n)).toEqual([202, 200]);
      };
      const stop = (error: unknown) => {
        next = count;
        throw error;
      };
      await Promise.all([askNext().catch(stop), ...Array.from({ length: CONNECTIONS }, sendNext)]);
      return counts;
    }

    async function answersToOthers(n: number): Promise<[event: number, exchange: number]> {
      const exchange = async () => {
        const token = partner.sign(partner.claims({ aud: surroundings.baseUrl }));
        return (await exchangeAt(surroundings.baseUrl, token)).status;
      };
      return [await send(calm, n), await untilServed(exchange)];
    }

    const rowsOf = async (table: string, condition: string) => {
      const [row] = await dataSource.query<[{ count: number }]>(
        `SELECT count(*)::int FROM ${table} WHERE ${condition}`,
      );
      return row.count;
    };

    it('keeps rows and memory bounded, answers others, and purges', async () => {
      await start(1_000_000);
      expect(await sendAll(SENT)).toEqual({ 202: SENT });
      expect(await rowsOf('token_exchange_logout', `issuer = '${busy.issuer}'`)).toBeLessThanOrEqual(
        MAX_ROWS,
      );
      expect(await rowsOf('token_exchange_used_jti', 'true')).toBeGreaterThanOrEqual(SENT);
      const { [0]: memory } = (await MetricSamples.at(surroundings.metricsUrl)).named(
        'process_resident_memory_bytes',
      );
      whenMeasured(() => expect(memory!.value / 2 ** 20).toBeLessThan(MAX_RESIDENT_MIB));
      await dataSource.query(`UPDATE token_exchange_used_jti SET expires_at = now() - interval '2 hours'`);
      await until('the used ids are purged', PATIENCE_MS, async () => {
        return (await rowsOf('token_exchange_used_jti', `expires_at < now() - interval '1 hour'`)) === 0;
      });
    });
  });
});

/** Sends again for a 503, which a busy machine may cause. @returns the status */
async function untilServed(send: () => Promise<number>): Promise<number> {
  for (;;) {
    const status = await send();
    if (status !== 503) return status;
  }
}
