// Logins of users who need no change, whose sessions are opened by the statement that uses up their tokens.
import { DataSource } from 'typeorm';
import { Partner } from '../../demo/partner.js';
import { auditRows, onEveryEvent } from '../support/audit.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { changeUser, linkedUser } from '../support/local-users.js';
import { cookieOf, meStatus } from '../support/logins.js';
import { SessionRepository } from '../../src/token-exchange/sessions/session.repository.js';
import { SessionService } from '../../src/token-exchange/sessions/session.service.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const MOST = 3;
const LIMIT_MS = 10_000;
const tokenOf = (sub: string) => partner.sign(partner.claims({ sub }));

describeOnEachDatabase('[4.1] a login of a known user', (database) => {
  const environment = { SVC_EMBED_MAX_SESSIONS_PER_USER: String(MOST) };
  const service = TestService.forBlock(database, { trustedKeys, environment });
  const login = (sub: string, requestId = 'some-login') =>
    service.embed({ token: tokenOf(sub) }, { 'x-request-id': requestId });
  /** The statements that are sent meanwhile. */
  const statementsOf = async (work: () => Promise<unknown>) => {
    const { logger } = service.part(DataSource);
    const logQuery = jest.spyOn(logger, 'logQuery');
    await work();
    const texts = logQuery.mock.calls.map(([text]) => text);
    logQuery.mockRestore();
    // On the embedded database those that read in the background are among them.
    return texts.filter((text) => !text.startsWith('SELECT') || text.includes('token_exchange_session'));
  };
  const sessionsOf = async (sub: string) => {
    const user = await linkedUser(service, partner.issuer, sub);
    return (await service.rows('SELECT 1 FROM token_exchange_session WHERE user_id = $1', [user?.id])).length;
  };
  /** What the trail tells of a request, without what all names begin with. */
  const toldOf = async (requestId: string) =>
    (await auditRows(service, requestId)).map(({ name }) =>
      name.replace(/^svc\.audit\.(token-exchange\.)?/, ''),
    );

  it('[4.1] is one statement, once the user is known', async () => {
    await login('one');
    await login('one');
    const texts = await statementsOf(() => login('one'));
    const written = texts.filter((text) => !text.startsWith('SELECT'));
    expect(written).toHaveLength(1);
    for (const table of ['token_exchange_used_jti', 'token_exchange_session', 'audit_event'])
      expect(written[0]).toContain(`INSERT INTO ${table}`);
  });

  it('[6.3] leaves the session and the event, and reports them as any login does', async () => {
    const heard: object[] = [];
    onEveryEvent(service, (event) => heard.push(event));
    const answers = [await login('told', 'told-first'), await login('told', 'told-second')];
    expect(await Promise.all(answers.map((answer) => meStatus(service, cookieOf(answer))))).toEqual([
      200, 200,
    ]);
    const [first] = (await auditRows(service, 'told-first')).filter(({ name }) => name.endsWith('login'));
    const [second] = await auditRows(service, 'told-second');
    const shape = (row = first) => [row?.name, row?.subject_user_id, Object.keys(row?.payload ?? {}).sort()];
    expect(shape(second)).toEqual(shape());
    const { subject_user_id: subjectUserId, payload } = second!;
    expect(heard.at(-1)).toMatchObject({ subjectUserId, payload });
    const family = [payload['sessionFamilyId']];
    expect(
      await service.rows('SELECT 1 FROM token_exchange_session WHERE family_id = $1', family),
    ).toHaveLength(1);
  });

  it('[5.2.5] of one token at once opens one session', async () => {
    await login('twice');
    const token = tokenOf('twice');
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.embed({ token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(9).fill(401)]);
    expect(await sessionsOf('twice')).toBe(2);
  });

  it('[D7] opens nothing for a disabled user', async () => {
    await login('disabled');
    const user = await linkedUser(service, partner.issuer, 'disabled');
    await changeUser(service, user?.id ?? '', { enabled: false });
    const answer = await login('disabled', 'disabled-login');
    expect(await answer.json()).toMatchObject({ error: 'user_disabled' });
    expect(await toldOf('disabled-login')).toEqual(['embed-login-failed']);
    expect(await sessionsOf('disabled')).toBe(1);
    // From then on by the shared statement and that of the refusal.
    expect(await statementsOf(() => login('disabled'))).toHaveLength(2);
    expect(await sessionsOf('disabled')).toBe(1);
  });

  it('[D104] ends the oldest of too many after the answer, and records that for a login', async () => {
    const ids = Array.from({ length: MOST + 1 }, (_, index) => `many-logins-${index}`);
    const cookies = [];
    for (const id of ids) cookies.push(cookieOf(await login('many', id)));
    await until('the oldest is ended', LIMIT_MS, async () => (await sessionsOf('many')) === MOST);
    expect(await Promise.all(cookies.map((cookie) => meStatus(service, cookie)))).toEqual([
      401, 200, 200, 200,
    ]);
    // The work after an earlier answer may be the one that finds it.
    const recorded = (await Promise.all(ids.map(toldOf))).flat();
    expect(recorded.filter((name) => name === 'session.ended')).toHaveLength(1);
  });

  it('[D104] counts those that come in the same statement', async () => {
    await login('together');
    const answers = await Promise.all(Array.from({ length: 10 }, () => login('together')));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303));
    await until('the oldest are ended', LIMIT_MS, async () => (await sessionsOf('together')) === MOST);
  });

  it('[D104] leaves to the purge what was not ended after the login', async () => {
    await login('purged');
    const user = await linkedUser(service, partner.issuer, 'purged');
    await service.rows(
      `INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at)
       SELECT sha256(n::text::bytea), $1, gen_random_uuid(), now() - interval '1 minute', now() + interval '1 hour'
       FROM generate_series(1, 5) AS n`,
      [user?.id],
    );
    await service.part(SessionService).purge();
    expect(await sessionsOf('purged')).toBe(MOST);
  });

  it.each([
    ['token_exchange_session', ''],
    ['audit_event', 'CONSTRAINT'],
  ])('[6.3] leaves no session and no event where its row of %s fails', async (table, kind) => {
    await login('failing');
    await service.rows(`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'made to fail'; END $$`);
    const when = kind === '' ? 'BEFORE INSERT' : 'AFTER INSERT';
    const deferred = kind === '' ? '' : 'DEFERRABLE INITIALLY DEFERRED';
    await service.rows(
      `CREATE ${kind} TRIGGER fail ${when} ON ${table} ${deferred} FOR EACH ROW EXECUTE FUNCTION fail()`,
    );
    const before = await sessionsOf('failing');
    const requestId = `failing-${table}`.replaceAll('_', '-');
    const answer = await login('failing', requestId);
    await service.rows(`DROP TRIGGER fail ON ${table}`);
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([500, null]);
    expect(await sessionsOf('failing')).toBe(before);
    expect(await toldOf(requestId)).not.toContain('embed-login');
    expect((await login('failing')).status).toBe(303);
  });
});

describeOnPostgresql('[D104] the sessions of a user where a tenth more are tolerated', (database) => {
  const limit = 10;
  const environment = { SVC_EMBED_MAX_SESSIONS_PER_USER: String(limit) };
  const service = TestService.forBlock(database, { trustedKeys, environment });

  it('[D104] are counted again, and the oldest ended, when there may be more; after a failure with the next login', async () => {
    const sessions = service.part(SessionRepository);
    const [count, end] = [jest.spyOn(sessions, 'countOf'), jest.spyOn(sessions, 'deleteOldest')];
    end.mockRejectedValueOnce(new Error('the connection is gone'));
    const login = () => service.embed({ token: tokenOf('tolerated') });
    const live = async () => (await service.rows('SELECT 1 FROM token_exchange_session')).length;
    await login();
    await until(
      'the first is counted',
      LIMIT_MS,
      async () => (await count.mock.results[0]?.value)?.size === 1,
    );
    for (let more = 1; more <= limit; more++) await login();
    expect(await live()).toBe(limit + 1);
    expect([count.mock.calls.length, end.mock.calls.length]).toEqual([1, 0]);
    await login();
    await until('one is to be ended', LIMIT_MS, () => end.mock.calls.length === 1);
    expect(await live()).toBe(limit + 2);
    await login();
    await until('the oldest are ended', LIMIT_MS, async () => (await live()) === limit);
    expect(count).toHaveBeenCalledTimes(3);
  });
});

describeOnPostgresql('[D104] many logins of one user at two instances', (database) => {
  let services: TestService[] = [];
  beforeAll(async () => {
    const environment = { SVC_EMBED_MAX_SESSIONS_PER_USER: String(MOST) };
    const start = () => TestService.start(database, { trustedKeys, environment });
    services = [await start(), await start()];
  });
  afterAll(() => Promise.all(services.map((service) => service.stop())));

  it('[D104] fifty at once leave as many sessions as a user may have', async () => {
    for (let round = 0; round < 5; round++) {
      const sub = `round-${round}`;
      expect((await services[0]!.embed({ token: tokenOf(sub) })).status).toBe(303);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, turn) => services[turn % 2]!.embed({ token: tokenOf(sub) })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(303));
      const user = await linkedUser(services[0]!, partner.issuer, sub);
      const live = () =>
        services[0]!.rows('SELECT 1 FROM token_exchange_session WHERE user_id = $1 AND expires_at > now()', [
          user?.id,
        ]);
      await until('the oldest are ended', LIMIT_MS, async () => (await live()).length === MOST);
    }
  });
});
