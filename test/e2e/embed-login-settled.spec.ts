// Logins of users who need no change, whose sessions are opened by a statement that logins of the moment share.
import { Partner } from '../../demo/partner.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { whileInsertsFail } from '../support/failing-inserts.js';
import { sendBeside } from '../support/flow-requests.js';
import { linkedUser } from '../support/local-users.js';
import { cookieOf, meStatus } from '../support/logins.js';
import { flowsOf } from '../support/stages.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const MOST = 3;
const tokenOf = (sub: string) => partner.sign(partner.claims({ sub }));

describeOnEachDatabase('[4.1] a login of a known user', (database) => {
  const environment = { SVC_EMBED_MAX_SESSIONS_PER_USER: String(MOST) };
  const service = TestService.forBlock(database, { trustedKeys, environment });
  const login = (sub: string, requestId = 'some-login') =>
    service.embed({ token: tokenOf(sub) }, { 'x-request-id': requestId });
  const sessionsOf = async (sub: string) => {
    const user = await linkedUser(service, partner.issuer, sub);
    return (await service.rows('SELECT 1 FROM token_exchange_session WHERE user_id = $1', [user?.id])).length;
  };
  /** What the trail tells of a request, without what all names begin with. */
  const toldOf = async (requestId: string) =>
    (await eventsOf(service, requestId)).map(({ name }) =>
      name.replace(/^svc\.audit\.(token-exchange\.)?/, ''),
    );

  it('[D3] whose user is deleted meanwhile creates the user again in a transaction', async () => {
    await login('deleted');
    const user = await linkedUser(service, partner.issuer, 'deleted');
    const used = () => service.rows('DELETE FROM user_account WHERE id = $1', [user?.id]);
    const source = { method: 'POST', origin: undefined, fetchSite: undefined } as const;
    const { setCookie } = await sendBeside(
      service,
      { flow: 'embed', requestId: 'login-of-deleted' },
      (sent) =>
        flowsOf(service, { used }).logins.login(
          { token: tokenOf('deleted'), source, cookies: undefined },
          sent,
        ),
    );
    expect(await toldOf('login-of-deleted')).toEqual(['user-provisioned', 'embed-login']);
    expect(await meStatus(service, setCookie.split(';', 1)[0] ?? '')).toBe(200);
    expect((await linkedUser(service, partner.issuer, 'deleted'))?.id).not.toBe(user?.id);
  });

  it('may leave too many sessions, of which the purge ends the oldest with an event', async () => {
    const cookies: string[] = [];
    for (let session = 0; session < MOST + 2; session++) cookies.push(cookieOf(await login('many')));
    const statuses = () => Promise.all(cookies.map((cookie) => meStatus(service, cookie)));
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    await service.purge('session-purge');
    expect(await statuses()).toEqual([401, 401, 200, 200, 200]);
    const user = await linkedUser(service, partner.issuer, 'many');
    const ended = (await eventsOf(service)).filter(({ name }) => name === 'svc.audit.session.ended');
    expect(ended.filter(({ subjectUserId }) => subjectUserId === user?.id)).toMatchObject([
      { payload: { sessions: 2, cause: 'too-many' } },
    ]);
  });

  it.each([
    ['token_exchange_session', 'at the statement'],
    ['audit_event', 'at the commit'],
  ] as const)('[6.3] leaves no session and no event if its row of %s fails %s', async (table, when) => {
    await login('failing');
    const before = await sessionsOf('failing');
    const requestId = `failing-${table}`.replaceAll('_', '-');
    const answer = await whileInsertsFail(service, table, () => login('failing', requestId), when);
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([500, null]);
    expect(await sessionsOf('failing')).toBe(before);
    expect(await toldOf(requestId)).not.toContain('embed-login');
    expect((await login('failing')).status).toBe(303);
  });
});

describeOnPostgresql('too many sessions of one user, purged by two instances', (database) => {
  let services: TestService[] = [];
  beforeAll(async () => {
    const environment = { SVC_EMBED_MAX_SESSIONS_PER_USER: String(MOST) };
    const start = () => TestService.start(database, { trustedKeys, environment });
    services = [await start(), await start()];
  });
  afterAll(() => Promise.all(services.map((service) => service.stop())));

  it('leave as many as a user may have, even during further logins', async () => {
    for (let round = 0; round < 3; round++) {
      const logins = Array.from({ length: 50 }, (_, turn) =>
        services[turn % 2]!.embed({ token: tokenOf('purged') }),
      );
      const purges = services.map((service) => service.purge('session-purge'));
      expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(Array(50).fill(303));
      await Promise.all(purges);
    }
    await services[0]!.purge('session-purge');
    expect(
      await services[0]!.rows('SELECT 1 FROM token_exchange_session WHERE expires_at > now()'),
    ).toHaveLength(MOST);
  });
});
