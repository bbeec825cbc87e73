// Clocks are set ahead and back: no token id passes twice, nobody's throttle opens, and nothing that still counts is deleted.
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Partner } from '../../demo/partner.js';
import { SettlementRepository } from '../../src/host/settlement.repository.js';
import { ThrottleCounterRepository } from '../../src/http/throttle/throttle-counter.repository.js';
import { createLogger } from '../../src/logging/logger.js';
import { JtiPurgeJob } from '../../src/token-exchange/consumption/jti-purge.job.js';
import { JtiRepository } from '../../src/token-exchange/consumption/jti.repository.js';
import { Leader, SoleLeader } from '../../src/token-exchange/coordination/leader.js';
import { Database } from '../../src/token-exchange/database/database.js';
import type { TokenUse } from '../../src/token-exchange/host/settlements.js';
import { Rejection } from '../../src/token-exchange/rejection.js';
import { RevocationPurgeJob } from '../../src/token-exchange/revocation/revocation-purge.job.js';
import { SessionService } from '../../src/token-exchange/sessions/session.service.js';
import { SilentTelemetry } from '../../src/token-exchange/silent-telemetry.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { SetClock } from '../support/set-clock.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const LOGGER = createLogger('silent');
const MINUTE = 60;
const HOUR = 3_600;
const LIMIT_MS = 30_000;

jest.setTimeout(120_000);

/** What became of a use of token ids. */
function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'accepted',
    (error: unknown) => {
      if (error instanceof Rejection) return error.reason;
      throw error;
    },
  );
}

function purgeJobOf(jtis: JtiRepository, clock: SetClock): JtiPurgeJob {
  const options = { replayPurge: { intervalSeconds: 3_600, batchSize: 100 } };
  return new JtiPurgeJob(jtis, clock, new SoleLeader(), LOGGER, options, new SilentTelemetry());
}

describeOnEachDatabase('[D97] the horizon of the purge', (database) => {
  const clock = new SetClock();
  let dataSource: DataSource;
  let jtis: JtiRepository;
  let settlements: SettlementRepository;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    jtis = new JtiRepository(new Database(dataSource));
    settlements = new SettlementRepository(dataSource);
  });
  beforeEach(async () => {
    clock.aheadSeconds = 0;
    await dataSource.query('TRUNCATE token_exchange_used_jti, token_exchange_replay_horizon');
  });

  const now = () => Math.floor(Date.now() / 1000);
  const use = (expiresInSeconds: number, jti: string = randomUUID()): TokenUse => ({
    jti,
    exp: now() + expiresInSeconds,
  });
  const settle = (uses: readonly TokenUse[]) =>
    settlements.settle({ uses, subject: { issuer: 'nobody', subject: 'nobody' }, events: [] });
  const waysIn = [
    ['the statement of the package', (uses: readonly TokenUse[]) => jtis.consume(uses)],
    ['the short way of the instance', settle],
  ] as const;

  it.each(waysIn)(
    '[D97][5.2.5] by %s: what may have been deleted is refused as expired',
    async (_, consume) => {
      const [gone, kept] = [use(-2 * MINUTE), use(MINUTE)];
      expect(await outcomeOf(consume([gone]))).toBe('accepted');
      expect(await outcomeOf(consume([kept]))).toBe('accepted');
      await purgeJobOf(jtis, clock).run();
      const neverUsed = { jti: randomUUID(), exp: gone.exp };
      const outcomes = [gone, neverUsed, { jti: gone.jti, exp: gone.exp - HOUR }, kept].map((one) =>
        outcomeOf(consume([one])),
      );
      expect(await Promise.all(outcomes)).toEqual([
        'token_expired',
        'token_expired',
        'token_expired',
        'token_replayed',
      ]);
      expect(await outcomeOf(consume([{ jti: randomUUID(), exp: gone.exp + 1 }]))).toBe('accepted');
    },
  );

  it.each(waysIn)(
    '[D97][D3] by %s: a pair with such a token leaves the other one unused',
    async (_, consume) => {
      const gone = use(-2 * MINUTE);
      await consume([gone]);
      await purgeJobOf(jtis, clock).run();
      const other = use(MINUTE);
      for (const pair of [
        [gone, other],
        [other, gone],
      ])
        expect(await outcomeOf(consume(pair))).toBe('token_expired');
      expect(await outcomeOf(consume([other, use(MINUTE)]))).toBe('accepted');
    },
  );

  it('[D97] judges each of those who share a statement by itself, also those who want the same id', async () => {
    const gone = use(-2 * MINUTE);
    await jtis.consume([gone]);
    await purgeJobOf(jtis, clock).run();
    const fresh = Array.from({ length: 20 }, () => use(MINUTE));
    const again = { jti: gone.jti, exp: now() + MINUTE };
    const outcomes = await Promise.all(
      [gone, ...fresh, again, again, gone].map((one) => outcomeOf(jtis.consume([one]))),
    );
    expect(outcomes.slice(0, 21)).toEqual(['token_expired', ...fresh.map(() => 'accepted')]);
    expect(outcomes.slice(21, 23).sort()).toEqual(['accepted', 'token_replayed']);
    // By its neighbour, which had asked for the same id before it was told.
    expect(['token_expired', 'token_replayed']).toContain(outcomes[23]);
  });

  it('[D97] never moves back, and stays where nothing is due', async () => {
    const horizon = async () => {
      const rows = await dataSource.query<{ until: string }[]>(
        'SELECT purged_until::text AS until FROM token_exchange_replay_horizon',
      );
      return rows.map(({ until: at }) => at);
    };
    await purgeJobOf(jtis, clock).run();
    expect(await horizon()).toEqual([]);
    await jtis.consume([use(-2 * MINUTE)]);
    await purgeJobOf(jtis, clock).run();
    const first = await horizon();
    expect(first).toHaveLength(1);
    // As an instance of the release before, which does not ask the horizon, may leave it.
    await dataSource.query(
      `INSERT INTO token_exchange_used_jti VALUES (sha256('old'), now() - interval '1 day')`,
    );
    await purgeJobOf(jtis, clock).run();
    expect(await horizon()).toEqual(first);
  });

  it('[D97] a clock that is ahead deletes nothing that the database thinks alive', async () => {
    const alive = [use(MINUTE), use(-MINUTE / 2), use(10 * MINUTE)];
    for (const one of alive) await jtis.consume([one]);
    for (const aheadSeconds of [MINUTE, HOUR, 365 * 24 * HOUR]) {
      clock.aheadSeconds = aheadSeconds;
      await purgeJobOf(jtis, clock).run();
    }
    clock.aheadSeconds = 0;
    for (const one of alive) expect(await outcomeOf(jtis.consume([one]))).toBe('token_replayed');
  });

  it('[D97] nothing goes by a clock that is behind either', async () => {
    await jtis.consume([use(-2 * MINUTE)]);
    clock.aheadSeconds = -HOUR;
    await purgeJobOf(jtis, clock).run();
    expect(await dataSource.query('SELECT 1 FROM token_exchange_used_jti')).toHaveLength(1);
  });

  it('[D97] counts set back do not keep a client out for longer than a window, nor let it in again', async () => {
    const counters = new ThrottleCounterRepository(new Database(dataSource));
    await counters.countHit('set back', MINUTE * 1000);
    // As if the database's clock had been set back by an hour since.
    await dataSource.query(`UPDATE throttle_counter SET window_ends_at = window_ends_at + interval '1 hour'`);
    const { hits, remainingMs } = await counters.countHit('set back', MINUTE * 1000);
    expect(hits).toBe(2);
    expect(remainingMs).toBeLessThanOrEqual(MINUTE * 1000);
  });
});

describeOnPostgresql('[D97] the purge beside statements that began before it', (database) => {
  it('[D97][5.2.5] waits for one that has not seen the horizon, so that it finds the record', async () => {
    const { dataSource } = await database.open();
    const jtis = new JtiRepository(new Database(dataSource));
    const clock = new SetClock();
    const exp = Math.floor(Date.now() / 1000) - 2 * MINUTE;
    // The ids are used in the order of their hashes: the statement takes its snapshot, then waits at the first.
    const [first, second] = await inOrderOfHashes(dataSource);
    await jtis.consume([{ jti: second, exp }]);
    const blocker = dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('INSERT INTO token_exchange_used_jti VALUES (sha256(convert_to($1, $2)), now())', [
      first,
      'UTF8',
    ]);
    const late = Promise.all([first, second].map((jti) => outcomeOf(jtis.consume([{ jti, exp: exp }]))));
    await until('the statement waits', LIMIT_MS, async () => {
      const waiting = await dataSource.query<unknown[]>(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    const purge = purgeJobOf(jtis, clock).run();
    await until('the purge is announced', LIMIT_MS, async () => {
      const announced = await dataSource.query<unknown[]>('SELECT 1 FROM token_exchange_replay_horizon');
      return announced.length > 0;
    });
    await blocker.rollbackTransaction();
    await blocker.release();
    expect(await late).toEqual(['accepted', 'token_replayed']);
    await purge;
    await purgeJobOf(jtis, clock).run();
    expect(await outcomeOf(jtis.consume([{ jti: second, exp }]))).toBe('token_expired');
  });

  it('[D97] leaves the records for the next run where a transaction does not end, and says so', async () => {
    const { dataSource } = await database.open();
    const lines: string[] = [];
    const logger = createLogger('warn', { write: (line) => void lines.push(line) });
    const jtis = new JtiRepository(new Database(dataSource));
    const options = { replayPurge: { intervalSeconds: 3_600, batchSize: 100 } };
    const job = new JtiPurgeJob(
      jtis,
      new SetClock(),
      new SoleLeader(),
      logger,
      options,
      new SilentTelemetry(),
    );
    await dataSource.query(
      `INSERT INTO token_exchange_used_jti VALUES (sha256('left'), now() - interval '1 day')`,
    );
    const present = () =>
      dataSource.query(`SELECT 1 FROM token_exchange_used_jti WHERE jti_hash = sha256('left')`);
    const blocker = dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query(`DELETE FROM token_exchange_used_jti WHERE jti_hash = sha256('nothing')`);
    await job.run();
    expect(await present()).toHaveLength(1);
    expect(lines.join('')).toContain('a transaction that writes replay records does not end');
    await blocker.rollbackTransaction();
    await blocker.release();
    await job.run();
    expect(await present()).toHaveLength(0);
  });
});

/** Two ids of which the first has the lesser hash. */
async function inOrderOfHashes(dataSource: DataSource): Promise<[string, string]> {
  const ids = [randomUUID(), randomUUID()];
  const rows = await dataSource.query<{ id: string }[]>(
    'SELECT id FROM unnest($1::text[]) AS id ORDER BY sha256(convert_to(id, $2))',
    [ids, 'UTF8'],
  );
  return [rows[0]?.id ?? '', rows[1]?.id ?? ''];
}

describeOnPostgresql('[D97] three instances whose clocks are set', (database) => {
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
    await instances[0]?.rows('TRUNCATE token_exchange_replay_horizon');
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

  const steps = [MINUTE, HOUR].flatMap((seconds) =>
    (['one', 'leader', 'all'] as const).map((who) => [seconds, who] as const),
  );

  it.each(steps)(
    '[D97][5.2.5] by %d s in %s of them, ahead and back: no token passes twice, by neither way in',
    async (seconds, who) => {
      // Two minutes more, so that what was used before the step is due to go by the database's clock after it.
      const behind = seconds + 3 * MINUTE;
      for (const clock of clocks) clock.aheadSeconds = -behind;
      const iat = Math.floor(Date.now() / 1000) - behind;
      const tokens = (['exchange', 'embed'] as const).map(
        (flow) => [flow, partner.sign(partner.claims({ iat, exp: iat + 55 }))] as const,
      );
      const passed = { exchange: 0, embed: 0 };
      const sendEverywhere = async () => {
        for (const [flow, token] of tokens) {
          for (const index of clocks.keys()) {
            const status = await send(flow, token, index);
            expect([200, 303, 400, 401]).toContain(status);
            if (status < 400) passed[flow] += 1;
          }
        }
      };
      await sendEverywhere();
      expect(passed).toEqual({ exchange: 1, embed: 1 });
      for (const clock of setAt(who)) clock.aheadSeconds = 0;
      await until('the leader knows that it leads', LIMIT_MS, () => leaderAt() >= 0);
      await instances[leaderAt()]?.part(JtiPurgeJob).run();
      await sendEverywhere();
      for (const clock of clocks) clock.aheadSeconds = -behind;
      await sendEverywhere();
      expect(passed).toEqual({ exchange: 1, embed: 1 });
    },
  );

  it.each([-HOUR, -MINUTE, MINUTE, HOUR])(
    '[D97] by %d s: one leads within seconds, and never two',
    async (seconds) => {
      for (const clock of setAt('leader')) clock.aheadSeconds = seconds;
      const leaders = () => instances.filter((instance) => instance.part(Leader).isLeader).length;
      expect(leaders()).toBeLessThanOrEqual(1);
      await until('one leads', LIMIT_MS, () => leaders() === 1);
    },
  );

  it('[D97] what still counts is not deleted by a leader whose clock is a day ahead', async () => {
    const [first] = instances;
    if (first === undefined) throw new Error('no instance was started');
    const cookie = await first.sessionCookie(
      partner.sign(partner.claims({ iat: Math.floor(Date.now() / 1000) })),
    );
    const access = await first.accessToken({
      subject_token: partner.sign(partner.claims({ iat: Math.floor(Date.now() / 1000) })),
    });
    expect((await first.post('/rest/auth/oauth/revoke', { token: access })).status).toBe(200);
    const leader = instances[leaderAt()];
    const count = async (table: string) =>
      (await first.rows(`SELECT 1 FROM ${table} WHERE expires_at > now()`)).length;
    const before = [await count('token_exchange_session'), await count('token_exchange_ended_token')];
    for (const clock of clocks) clock.aheadSeconds = 24 * HOUR;
    await leader?.part(RevocationPurgeJob).run();
    await leader?.part(SessionService).purge();
    for (const clock of clocks) clock.aheadSeconds = 0;
    expect([await count('token_exchange_session'), await count('token_exchange_ended_token')]).toEqual(
      before,
    );
    expect((await first.fetch('/rest/me', { headers: { cookie } })).status).toBe(200);
  });
});
