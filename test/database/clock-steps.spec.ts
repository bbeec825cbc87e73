// Clocks are set ahead and back: no token id is accepted twice, no throttle opens early, and no valid data is deleted.
import type { DataSource } from 'typeorm';
import { Partner } from '../../demo/partner.js';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseCounts } from '../../src/platform/http/throttle/database-counts.js';
import { Leader } from '../../src/platform/jobs/leader.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { USED_IDS } from '../../src/token-exchange/replay/used-id-purge.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { DpopClient, sha256 } from '../support/dpop-client.js';
import { linkedUser } from '../support/local-users.js';
import { createOperator, OPERATOR_ENVIRONMENT, signedIn } from '../support/operators.js';
import { purgeJobOn } from '../support/purges.js';
import { SetClock } from '../support/set-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const LOGGER = createLogger('silent');
const MINUTE = 60;
const HOUR = 3_600;
const LIMIT_MS = 90_000;

describeOnEachDatabase('[D97] replay records and clocks', (database) => {
  const clock = new SetClock();
  let dataSource: DataSource;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
  });
  beforeEach(async () => {
    clock.aheadSeconds = 0;
    await dataSource.query('TRUNCATE token_exchange_used_jti');
  });

  const keep = (expiredSecondsAgo: number) =>
    dataSource.query(
      `INSERT INTO token_exchange_used_jti VALUES (gen_random_uuid(), now() - $1 * interval '1 second')`,
      [expiredSecondsAgo],
    );
  const left = async () =>
    (await dataSource.query<unknown[]>('SELECT 1 FROM token_exchange_used_jti')).length;

  it("[D97] a record is kept for one hour after its token's end by the earlier clock, and then deleted", async () => {
    await keep(HOUR - MINUTE);
    await keep(HOUR + MINUTE);
    for (const aheadSeconds of [-HOUR, -2 * MINUTE, 0]) {
      clock.aheadSeconds = aheadSeconds;
      await purgeJobOn(dataSource, { tables: USED_IDS }, clock).run();
      expect(await left()).toBe(aheadSeconds === 0 ? 1 : 2);
    }
    for (const aheadSeconds of [HOUR, 365 * 24 * HOUR]) {
      clock.aheadSeconds = aheadSeconds;
      await purgeJobOn(dataSource, { tables: USED_IDS }, clock).run();
      expect(await left()).toBe(1);
    }
  });

  it('[D97] counts after a clock step neither block a client for more than a window nor let it in again', async () => {
    const counts = new DatabaseCounts(new Database(dataSource), new SetClock(), LOGGER);
    await counts.hit('set back', MINUTE * 1000, 2);
    // As if the database's clock had been set back by an hour since.
    await dataSource.query(`UPDATE throttle_counter SET window_ends_at = window_ends_at + interval '1 hour'`);
    const { hits, remainingMs } = await counts.hit('set back', MINUTE * 1000, 2);
    expect(hits).toBe(2);
    expect(remainingMs).toBeLessThanOrEqual(MINUTE * 1000);
  });
});

describeOnPostgresql('[D97] three instances with clock steps', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const clocks = [new SetClock(), new SetClock(), new SetClock()];
  let instances: TestService[] = [];

  beforeAll(async () => {
    instances = [];
    for (const clock of clocks)
      instances.push(await TestService.start(database, { trustedKeys: [partner.staticEntry()], clock }));
    await until('there is a leader', LIMIT_MS, () => leaderAt() >= 0);
  });
  beforeEach(async () => {
    for (const clock of clocks) clock.aheadSeconds = 0;
  });
  afterAll(async () => {
    for (const instance of instances) await instance.stop();
  });

  const leaderAt = () => instances.findIndex((instance) => instance.part(Leader).isLeader);
  const setAt = (who: 'one' | 'leader' | 'all'): SetClock[] => {
    const leader = leaderAt();
    return clocks.filter(
      (_, index) =>
        who === 'all' || (who === 'leader' ? index === leader : index === (leader + 1) % clocks.length),
    );
  };
  const send = async (flow: 'exchange' | 'embed', token: string, index: number) => {
    const instance = instances[index];
    const answer =
      flow === 'embed'
        ? await instance?.embed({ token })
        : await instance?.exchange({ subject_token: token });
    return answer?.status ?? 0;
  };

  const steps = [25, 50].flatMap((minutes) =>
    [minutes, -minutes].flatMap((step) =>
      (['one', 'leader', 'all'] as const).map((who) => [step, who] as const),
    ),
  );

  // All of them is the same as the clock of the database, the other way.
  it.each(steps)(
    '[D97][5.2.5] by %d minutes in %s of them accept no token twice, and those with too large a difference accept none',
    async (minutes, who) => {
      const passed = { exchange: 0, embed: 0 };
      const sendEverywhere = async (tokens: readonly (readonly ['exchange' | 'embed', string])[]) => {
        for (const [flow, token] of tokens) {
          for (const index of clocks.keys()) {
            const status = await send(flow, token, index);
            const isFarOff = Math.abs(clocks[index]?.aheadSeconds ?? 0) > 30 * MINUTE;
            expect(isFarOff ? [503] : [200, 303, 400, 401]).toContain(status);
            if (status < 400) passed[flow] += 1;
          }
        }
      };
      // Made so that they are alive by the clocks that are set, and have expired by those that are not, or the other way.
      const tokensAt = (aheadSeconds: number) => {
        const iat = Math.floor(Date.now() / 1000) + aheadSeconds;
        return (['exchange', 'embed'] as const).map(
          (flow) => [flow, partner.sign(partner.claims({ iat, exp: iat + 55 }))] as const,
        );
      };
      for (const tokens of [tokensAt(0), tokensAt(minutes * MINUTE)]) {
        for (const clock of setAt(who)) clock.aheadSeconds = minutes * MINUTE;
        await sendEverywhere(tokens);
        for (const clock of clocks) clock.aheadSeconds = 0;
        await sendEverywhere(tokens);
        await instances[leaderAt()]?.purge('jti-purge');
        for (const clock of setAt(who)) clock.aheadSeconds = minutes * MINUTE;
        await instances[leaderAt()]?.purge('jti-purge');
        await sendEverywhere(tokens);
        for (const clock of clocks) clock.aheadSeconds = 0;
        await sendEverywhere(tokens);
      }
      expect(passed.exchange).toBeLessThanOrEqual(2);
      expect(passed.embed).toBeLessThanOrEqual(2);
      expect(passed.exchange).toBeGreaterThanOrEqual(1);
    },
  );

  it('[D97] include one that is not ready while its clock differs too much, and reports it', async () => {
    const [first] = instances;
    const [clock] = clocks;
    if (first === undefined || clock === undefined) throw new Error('no instance was started');
    const readiness = async () => {
      const answer = await first.fetch('/healthz/readiness');
      return [answer.status, ((await answer.json()) as { message?: string }).message];
    };
    clock.aheadSeconds = 31 * MINUTE;
    expect(await readiness()).toEqual([503, 'Waiting for its clock']);
    clock.aheadSeconds = -31 * MINUTE;
    expect((await first.exchange({ subject_token: partner.sign() })).status).toBe(503);
    clock.aheadSeconds = 29 * MINUTE;
    expect(await readiness()).toEqual([200, undefined]);
    expect((await first.exchange({ subject_token: 'no token' })).status).toBe(400);
  });
});

describeOnPostgresql('[D97] a session at two instances whose clocks are thirty minutes apart', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
  const LIFETIME_SECONDS = 600;
  const clock = new SetClock();
  const options = {
    trustedKeys: [partner.staticEntry()],
    environment: { ...OPERATOR_ENVIRONMENT, SVC_EMBED_SESSION_TTL_SECONDS: String(LIFETIME_SECONDS) },
  };
  const right = TestService.forBlock(database, options);
  const wrong = TestService.forBlock(database, { ...options, clock });
  const page = new DpopClient();
  const tokenAt = (aheadSeconds: number) => {
    const iat = Math.floor(Date.now() / 1000) + aheadSeconds;
    return partner.sign(partner.claims({ iat, exp: iat + 55 }));
  };
  const post = async (service: TestService, token: string, headers: Record<string, string>) => {
    const form = { token, answer: 'session', hostOrigin: 'https://product.example' };
    const answer = await service.embed(form, { origin: BASE_URL, ...headers });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { session_token: string; expires_at: string };
  };
  const proof = (ath?: string) => page.proof({ claims: { htu: `${BASE_URL}/rest/auth/embed`, ath } });

  // Less than the limit of D97, so that the run of the test does not count.
  it.each([29 * MINUTE, -29 * MINUTE])(
    '[D97][D26] one of which is %d s off lasts equally long at both, whichever opens and renews it',
    async (aheadSeconds) => {
      clock.aheadSeconds = aheadSeconds;
      for (const [opening, renewing] of [
        [right, wrong],
        [wrong, right],
      ] as const) {
        const tokenFor = (service: TestService) => tokenAt(service === wrong ? aheadSeconds : 0);
        const opened = await post(opening, tokenFor(opening), { dpop: proof() });
        const token = opened.session_token;
        const isAlive = async (expiresAt: string) => {
          for (const service of [right, wrong]) {
            const me = await service.fetch('/rest/me', { headers: page.headersFor(token, '/rest/me') });
            const left = { expiresAt, expiresInSeconds: expect.any(Number) };
            const body = (await me.json()) as { expiresInSeconds: number };
            expect([me.status, body]).toEqual([200, expect.objectContaining(left)]);
            expect(Math.abs(body.expiresInSeconds - LIFETIME_SECONDS)).toBeLessThan(5 * MINUTE);
          }
        };
        await isAlive(opened.expires_at);
        const authorization = `DPoP ${token}`;
        const renewed = await post(renewing, tokenFor(renewing), {
          authorization,
          dpop: proof(sha256(token)),
        });
        expect(renewed.session_token).toBe(token);
        expect(Date.parse(renewed.expires_at)).toBeGreaterThan(Date.parse(opened.expires_at));
        await isAlive(renewed.expires_at);
      }
    },
  );

  it.each([29 * MINUTE, -29 * MINUTE])(
    '[D97] one of which is %d s off: it lists to operators the sessions that have not ended, and counts and ends those',
    async (aheadSeconds) => {
      const sub = `customer${aheadSeconds}`;
      const claims = { sub, iat: Math.floor(Date.now() / 1000) };
      for (let session = 0; session < 2; session += 1)
        await right.sessionCookie(partner.sign(partner.claims(claims)));
      const { id: user } = (await linkedUser(right, partner.issuer, sub)) ?? {};
      const [ended] = await right.rows<{ id: string }>(
        'SELECT family_id::text AS id FROM token_exchange_session WHERE user_id = $1 LIMIT 1',
        [user],
      );
      await right.rows(
        "UPDATE token_exchange_session SET expires_at = now() - interval '1 minute' WHERE family_id = $1",
        [ended?.id],
      );
      await createOperator(right, `ada${aheadSeconds}@example.com`);
      const read = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T;
      clock.aheadSeconds = aheadSeconds;
      const browser = await signedIn(wrong, `ada${aheadSeconds}@example.com`);
      const search = () =>
        read<{ data: { id: string }[] }>(browser.send('POST', 'sessions/search', { user }));
      const [live, ...more] = (await search()).data;
      expect([live === undefined, live?.id === ended?.id, more]).toEqual([false, false, []]);
      expect(await read(browser.get(`users/${user}`))).toMatchObject({ sessions: 1, operatorSessions: 0 });
      expect((await browser.send('DELETE', `sessions/${live?.id}`)).status).toBe(204);
      expect((await browser.send('DELETE', `sessions/${ended?.id}`)).status).toBe(404);
      const { expiresAt } = await read<{ expiresAt: string }>(browser.get('session'));
      expect(Math.abs(Date.parse(expiresAt) - Date.now() - 8 * HOUR * 1000)).toBeLessThan(5 * MINUTE * 1000);
    },
  );
});
