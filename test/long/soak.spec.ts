// Both flows and the API for a long time at once: no answer goes wrong, no fault is logged, memory stays bounded.
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { describeBuilt, logOf, surroundingsOf } from '../support/built-service.js';
import { databaseEnvironment, describeOnEachDatabase } from '../support/databases.js';
import { MetricSamples } from '../support/metric-samples.js';
import { sizeOf } from '../support/series.js';
import { GRANT_TYPE } from '../support/test-service.js';

const SECONDS = sizeOf({ small: 4, whole: 900 });
const CLIENTS = 4;
const CUSTOMERS = 50;
const PAUSE_MS = 10;
const HIGHEST_LIMIT = '1000000';
/** Of resident memory at a quarter of the time, when all code has been used. */
const MOST_GROWTH = sizeOf({ small: 2, whole: 1.3 });

/** The answers that were not as expected, and how many there were in all. */
interface Tally {
  readonly wrong: string[];
  count: number;
}

jest.setTimeout((SECONDS + 60) * 1000);

describeBuilt('the service under mixed traffic', () => {
  describeOnEachDatabase('on its database', (database) => {
    const partner = Partner.create({ issuer: 'https://partner.example' });
    const tally: Tally = { wrong: [], count: 0 };
    let surroundings: ServiceSurroundings & { baseUrl: string };
    let service: ServiceProcess;
    let residentBytes: number[];

    beforeAll(async () => {
      surroundings = await surroundingsOf({
        SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
        ...databaseEnvironment(database),
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: HIGHEST_LIMIT,
        SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: HIGHEST_LIMIT,
        SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '1',
      });
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
      const end = Date.now() + SECONDS * 1000;
      const clients = Array.from({ length: CLIENTS }, () => workUntil(end));
      await pause(SECONDS * 250);
      residentBytes = [await resident()];
      await Promise.all(clients);
      residentBytes.push(await resident());
    });
    afterAll(async () => {
      await service?.stop();
      rmSync(surroundings.directory, { recursive: true, force: true });
    });

    const url = (path: string) => `${surroundings.baseUrl}${path}`;
    const resident = async () =>
      (await MetricSamples.at(url('/metrics'))).value('process_resident_memory_bytes');
    const tokenOf = (customer: number) => partner.sign(partner.claims({ sub: `customer-${customer}` }));
    const post = (path: string, fields: Record<string, string>) =>
      fetch(url(path), { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
    const exchange = (fields: Record<string, string>) =>
      post('/rest/auth/oauth/token', { grant_type: GRANT_TYPE, ...fields });

    async function workUntil(end: number): Promise<void> {
      for (let turn = 0; Date.now() < end; turn += 1) {
        await takeTurn(turn % CUSTOMERS);
        await pause(PAUSE_MS);
      }
    }

    async function takeTurn(customer: number): Promise<void> {
      const subject_token = tokenOf(customer);
      const exchanged = await expectStatus('exchange', 200, exchange({ subject_token }));
      const { access_token: token } = JSON.parse(exchanged) as { access_token: string };
      const headers = { authorization: `Bearer ${token}` };
      await expectStatus('call', 200, fetch(url('/api/v1/workflows'), { headers }));
      await expectStatus('replay', 400, exchange({ subject_token }));
      const actor_token = tokenOf(customer + 1);
      await expectStatus('with actor', 200, exchange({ subject_token: tokenOf(customer), actor_token }));
      const login = post('/rest/auth/embed', { token: tokenOf(customer) });
      await expectStatus('login', 303, login);
    }

    /** Answers the body. */
    async function expectStatus(what: string, expected: number, sending: Promise<Response>): Promise<string> {
      const answer = await sending;
      tally.count += 1;
      if (answer.status !== expected) tally.wrong.push(`${what}: ${answer.status}`);
      return answer.text();
    }

    it('every answer is as it should be', () => {
      expect(tally.wrong).toEqual([]);
      expect(tally.count).toBeGreaterThan(CLIENTS * SECONDS);
    });

    it('no fault is in the log', async () => {
      const faults = (await logOf(service)).filter(({ level }) => level === 'error' || level === 'fatal');
      expect(faults).toEqual([]);
    });

    it('memory stays bounded', () => {
      const [atQuarter = 0, atEnd = 0] = residentBytes;
      expect(atQuarter).toBeGreaterThan(0);
      expect(atEnd / atQuarter).toBeLessThan(MOST_GROWTH);
    });
  });
});
