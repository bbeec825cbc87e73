// Both flows, the API and all background work for a long time: no wrong answer, no logged error, no growth.
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { ServiceProcess } from '../../demo/service-process.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { ENDED_ROWS_STAY_SECONDS } from '../../src/token-exchange/login/sessions.providers.js';
import { RETENTION_MARGIN_SECONDS } from '../../src/token-exchange/replay/jti.repository.js';
import { WebhookReceiver } from '../support/audit-receivers.js';
import { describeBuilt, logOf, surroundingsOf } from '../support/built-service.js';
import { describeOnEachDatabase, describeOnEmbedded, describeOnPostgresql } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { licenseEnvironment } from '../support/license.js';
import { sizeOf } from '../support/series.js';
import { GRANT_TYPE } from '../support/test-service.js';
import type { Holdings } from './support/process-inspector.js';
import { INSPECTABLE, ProcessInspector } from './support/process-inspector.js';

/** By `npm run soak`; a small round within `npm test`, a quarter of an hour by `npm run test:long -- soak`. */
const minutes = process.env['SOAK_MINUTES'];
const SECONDS = minutes === undefined ? sizeOf({ small: 4, whole: 900 }) : Number(minutes) * 60;
/** What grows by a hundredth in an hour cannot be told from noise in less than this. */
const IS_JUDGED = SECONDS >= 600;
const SAMPLES = IS_JUDGED ? 80 : 4;
const CLIENTS = 4;
const CUSTOMERS = 50;
/**
 * The interval between a client's turns. The rate is low, so that other work can run on the machine. It is constant, because the
 * amount of data with a lifetime depends on it.
 */
const TURN_EVERY_MS = IS_JUDGED ? 1_000 : 10;
/** The licence outlives the traffic. */
const LICENSE_SECONDS = SECONDS + 3_600;
const HIGHEST_LIMIT = '1000000';
/** So long that each user has more sessions than one may have, until the purge ends the oldest. */
const SESSION_SECONDS = 600;
const SESSIONS_OF_ONE = 9;
const SECRET = 'a secret of thirty-two characters';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const MAX_GROWTH = 1.05;
/** The largest increase of small numbers, such as connections, which vary. */
const MAX_MORE = 10;
/** Tables whose rows expire, and how long they are kept after that, in seconds. */
const KEPT_SECONDS = {
  token_exchange_used_jti: RETENTION_MARGIN_SECONDS,
  token_exchange_session: ENDED_ROWS_STAY_SECONDS,
  token_exchange_ended_token: 0,
};
/** Longer than the longest time between two purges, and what clocks may differ by. */
const LONGEST_LEFT_SECONDS = 180;

interface Sample extends Holdings {
  /** Rows of all tables, without the audit trail and expiring rows; undefined if only the service can count them. */
  readonly rows: number | undefined;
}

/** The answers that were not as expected, and how many there were in all. */
interface Tally {
  readonly wrong: string[];
  count: number;
  /** Turns that a 503 ended: on a machine that others keep busy the database may not answer in time. */
  starved: number;
}

/** Ends a turn. */
class StarvedError extends Error {}

jest.setTimeout((SECONDS + 120) * 1000);

const declare = {
  postgresql: describeOnPostgresql,
  embedded: describeOnEmbedded,
}[process.env['SOAK_DATABASE'] ?? ''];

describeBuilt('the service under mixed traffic', () => {
  (declare ?? describeOnEachDatabase)('on its database', (database) => {
    const partner = Partner.create({ issuer: 'https://partner.example' });
    const stranger = Partner.create({ issuer: 'https://partner.example' });
    const publisher = Partner.create({ issuer: 'https://publisher.example' });
    const tally: Tally = { wrong: [], count: 0, starved: 0 };
    const samples: Sample[] = [];
    let surroundings: ServiceSurroundings & { baseUrl: string };
    let service: ServiceProcess;
    let jwks: JwksServer;
    let webhook: WebhookReceiver;
    let counted: OpenDatabase | undefined;

    beforeAll(async () => {
      jwks = await JwksServer.listen();
      publisher.rotate();
      // The shortest life that counts.
      jwks.publish(publisher.jwks(), { 'cache-control': 'max-age=60' });
      webhook = await WebhookReceiver.listen(SECRET);
      surroundings = await surroundingsOf({
        ...INSPECTABLE,
        ...(await licenseEnvironment({ exp: Math.floor(Date.now() / 1000) + LICENSE_SECONDS })),
        SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
        ...database.environment,
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([
          partner.staticEntry(),
          { type: 'jwks', url: jwks.url, issuer: publisher.issuer },
        ]),
        SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: HIGHEST_LIMIT,
        SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: HIGHEST_LIMIT,
        // Revocations have a fixed limit, so each customer has an address.
        SVC_PROXY_HOPS: '1',
        SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '1',
        SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL: '60',
        SVC_EMBED_SESSION_TTL_SECONDS: String(SESSION_SECONDS),
        SVC_EMBED_MAX_SESSIONS_PER_USER: String(SESSIONS_OF_ONE),
        SVC_AUDIT_WEBHOOK_URL: webhook.url,
        SVC_AUDIT_WEBHOOK_SECRET: SECRET,
        SVC_AUDIT_WEBHOOK_ALLOW_HTTP: 'true',
      });
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
      counted = database.kind === 'postgresql' ? await database.open() : undefined;
      await runFor(SECONDS);
    });
    afterAll(async () => {
      await service?.stop();
      await webhook?.die();
      await jwks?.close();
      if (surroundings !== undefined) rmSync(surroundings.directory, { recursive: true, force: true });
    });

    async function runFor(seconds: number): Promise<void> {
      const inspector = await ProcessInspector.attach(readFileSync(service.logFile, 'utf8'));
      const end = Date.now() + seconds * 1000;
      const clients = Array.from({ length: CLIENTS }, (_, client) => workUntil(end, client));
      try {
        for (let taken = 1; taken <= SAMPLES; taken++) {
          const due = end - seconds * 1000 * (1 - taken / (SAMPLES + 1));
          await pause(Math.max(0, due - Date.now()));
          samples.push({ ...(await inspector.holdings()), rows: await rowsOf(counted) });
          webhook.arrived.length = 0;
        }
        await Promise.all(clients);
      } finally {
        inspector.close();
      }
    }

    const url = (path: string) => `${surroundings.baseUrl}${path}`;
    const tokenOf = (of: Partner, customer: number) => of.sign(of.claims({ sub: `customer-${customer}` }));
    const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(url(path), {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { ...FORM, ...headers },
        redirect: 'manual',
      });
    const exchange = (fields: Record<string, string>) =>
      post('/rest/auth/oauth/token', { grant_type: GRANT_TYPE, ...fields });

    async function workUntil(end: number, client: number): Promise<void> {
      for (let turn = client; Date.now() < end; turn += 1) {
        const due = Date.now() + TURN_EVERY_MS;
        await takeTurn(turn % CUSTOMERS).catch((error: unknown) => {
          if (!(error instanceof StarvedError)) throw error;
          tally.starved += 1;
        });
        await pause(Math.max(0, due - Date.now()));
      }
    }

    async function takeTurn(customer: number): Promise<void> {
      const subject_token = tokenOf(partner, customer);
      const exchanged = await expectStatus('exchange', 200, exchange({ subject_token }));
      await expectStatus('replay', 400, exchange({ subject_token }));
      await expectStatus('forged', 400, exchange({ subject_token: forgedOf(customer) }));
      const actor_token = tokenOf(partner, customer + 1);
      await expectStatus(
        'with actor',
        200,
        exchange({ subject_token: tokenOf(partner, customer), actor_token }),
      );
      await expectStatus('fetched key', 200, exchange({ subject_token: tokenOf(publisher, customer) }));
      await callApi((JSON.parse(exchanged) as { access_token: string }).access_token, customer);
      await signIn(customer);
    }

    /** Signed by another key under the kid of this one. */
    function forgedOf(customer: number): string {
      return stranger.sign(partner.claims({ sub: `customer-${customer}` }), { kid: partner.kid });
    }

    async function callApi(token: string, customer: number): Promise<void> {
      const authorized = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const call = (path: string, init: RequestInit = {}) =>
        fetch(url(path), { headers: authorized, ...init });
      await expectStatus('list', 200, call('/api/v1/workflows?limit=5&sort=updatedAt'));
      const body = JSON.stringify({ name: 'Soaked', nodes: [{ id: 1 }] });
      const made = await expectStatus('make', 201, call('/api/v1/workflows', { method: 'POST', body }));
      const path = `/api/v1/workflows/${(JSON.parse(made) as { id: string }).id}`;
      const { 'content-type': _type, ...headers } = authorized;
      await expectStatus('delete', 204, call(path, { method: 'DELETE', headers }));
      const from = { 'x-forwarded-for': `192.0.2.${customer}` };
      await expectStatus('revoke', 200, post('/rest/auth/oauth/revoke', { token }, from));
      await expectStatus('revoked', 401, call('/api/v1/workflows'));
    }

    async function signIn(customer: number): Promise<void> {
      const token = tokenOf(partner, customer);
      const cookie = await cookieOf(post('/rest/auth/embed', { token }));
      await expectStatus('page', 200, fetch(url('/rest/me'), { headers: { cookie } }));
      const renewal = { token: tokenOf(partner, customer) };
      const renewed = await cookieOf(post('/rest/auth/embed', renewal, { cookie }));
      await expectStatus('renewed', 200, fetch(url('/rest/me'), { headers: { cookie: renewed } }));
    }

    /** The `Cookie` header of a login that must pass. */
    async function cookieOf(login: Promise<Response>): Promise<string> {
      const answer = await login;
      await expectStatus('login', 303, Promise.resolve(answer));
      return answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    }

    /** Answers the body. */
    async function expectStatus(what: string, expected: number, sending: Promise<Response>): Promise<string> {
      const answer = await sending;
      tally.count += 1;
      if (IS_JUDGED && answer.status === 503) {
        await answer.text();
        throw new StarvedError();
      }
      if (answer.status !== expected) tally.wrong.push(`${what}: ${answer.status}`);
      return answer.text();
    }

    it('answers everything correctly', () => {
      expect(tally.wrong).toEqual([]);
      expect(tally.count).toBeGreaterThan(CLIENTS * 10);
      // Some 15 answers a turn.
      expect(tally.starved).toBeLessThanOrEqual(tally.count / 100);
    });

    it('logs no error', async () => {
      const faults = (await logOf(service)).filter(({ level }) => level === 'error' || level === 'fatal');
      const isStarvation = ({ err }: Record<string, unknown>) =>
        IS_JUDGED &&
        String((err as { message?: string } | undefined)?.message).includes('connection timeout');
      expect(faults.filter((fault) => !isStarvation(fault))).toEqual([]);
    });

    it('does not grow', () => {
      expect(samples.length).toBe(SAMPLES);
      expect(samples.every(({ heapUsed, rss, files }) => Math.min(heapUsed, rss, files) > 0)).toBe(true);
      const report = reportOf(samples);
      process.stderr.write(
        `soak on ${database.kind}, ${SECONDS} s, ${tally.count} answers, ${tally.starved} turns ended by a 503: ${JSON.stringify(report)}\n`,
      );
      if (!IS_JUDGED) return;
      expect(report.filter(({ isGrown }) => isGrown)).toEqual([]);
    });

    it('keeps nothing expired', async () => {
      if (!IS_JUDGED) return;
      if (counted === undefined) await service.stop();
      const { dataSource } = counted ?? (await database.open());
      for (const [table, keptSeconds] of Object.entries(KEPT_SECONDS)) {
        const [row] = await dataSource.query<{ left: number }[]>(
          `SELECT count(*)::int AS left FROM ${table} WHERE expires_at < now() - interval '${keptSeconds + LONGEST_LEFT_SECONDS} s'`,
        );
        expect([table, row?.left]).toEqual([table, 0]);
      }
      // There may be more of those that were opened after the latest purge.
      const sessions = await dataSource.query<{ most: number }[]>(
        `SELECT count(*)::int AS most FROM token_exchange_session
         WHERE expires_at > now() AND created_at < now() - interval '${LONGEST_LEFT_SECONDS} s'
         GROUP BY user_id ORDER BY 1 DESC LIMIT 1`,
      );
      expect(sessions[0]?.most).toBeLessThanOrEqual(SESSIONS_OF_ONE);
    });
  });
});

/** All rows, without the audit trail, which is kept, and expiring rows, which are checked by their time. */
async function rowsOf(opened: OpenDatabase | undefined): Promise<number | undefined> {
  if (opened === undefined) return undefined;
  const tables = await opened.dataSource.query<{ name: string }[]>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND table_name NOT LIKE '%audit_event'
       AND table_name <> ALL ($1)`,
    [Object.keys(KEPT_SECONDS)],
  );
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM "${name}")`).join(' + ');
  const [row] = await opened.dataSource.query<{ rows: number }[]>(`SELECT (${counts})::int AS rows`);
  return row?.rows;
}

interface Growth {
  readonly what: string;
  /** Medians of the second quarter of the time and of the last. */
  readonly second: number;
  readonly last: number;
  readonly isGrown: boolean;
}

function reportOf(samples: readonly Sample[]): Growth[] {
  const quarter = Math.floor(samples.length / 4);
  const growth = (what: keyof Sample, isGrown: (second: number, last: number) => boolean): Growth => {
    const values = samples.map((sample) => sample[what] ?? 0);
    const second = medianOf(values.slice(quarter, 2 * quarter));
    const last = medianOf(values.slice(-quarter));
    return { what, second, last, isGrown: isGrown(second, last) };
  };
  const bySome = (second: number, last: number) => last > second * MAX_GROWTH;
  const byOnes = (second: number, last: number) => last > second + MAX_MORE;
  return [
    growth('heapUsed', bySome),
    growth('rss', bySome),
    growth('timers', byOnes),
    growth('handles', byOnes),
    growth('files', byOnes),
    growth('rows', (second, last) => last > second * 1.1 + MAX_MORE),
  ];
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
