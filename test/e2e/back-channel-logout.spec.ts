// A provider signs a user out: the tokens and sessions that end, those that remain, and the effect on a login in progress.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { countEvents, EVENT, eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { linkedUser } from '../support/local-users.js';
import { cookieOf } from '../support/logins.js';
import { LOGOUT_PATH, logoutToken } from '../support/logout-tokens.js';
import { metricsOf } from '../support/metric-samples.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
/** Knows some of the same users. */
const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });
const provider = Partner.create({ issuer: 'https://provider.example', audience: 'client' });
const trustedKeys = [
  partner.staticEntry(),
  other.staticEntry(),
  provider.staticEntry({
    issuer: partner.issuer,
    logoutIssuer: provider.issuer,
    logoutAudience: 'client',
    flows: ['logout'],
  }),
];

/** What is asked of the service, by a clock that a test moves. */
class Scene {
  constructor(
    private readonly service: TestService,
    private readonly clock: TestClock,
  ) {}

  get seconds(): number {
    return Math.floor(this.clock.nowSeconds());
  }

  token(sub: string, claims: Members = {}, by = partner): string {
    return by.sign(by.claims({ sub, iat: this.seconds, email: `${sub}@people.example`, ...claims }));
  }

  async session(sub: string, claims: Members = {}, by = partner): Promise<Record<string, string>> {
    return { cookie: cookieOf(await this.service.embed({ token: this.token(sub, claims, by) })) };
  }

  async bearer(sub: string, actor?: string, claims: Members = {}): Promise<Record<string, string>> {
    const token = await this.service.accessToken({
      subject_token: this.token(sub, claims),
      ...(actor === undefined ? {} : { actor_token: this.token(actor) }),
    });
    return { authorization: `Bearer ${token}` };
  }

  async me(headers: Record<string, string>): Promise<number> {
    return (await this.service.fetch('/rest/me', { headers })).status;
  }

  all(credentials: readonly Record<string, string>[]): Promise<number[]> {
    return Promise.all(credentials.map((credential) => this.me(credential)));
  }

  post(members: Members, by = partner, headers: Record<string, string> = {}): Promise<Response> {
    const token = logoutToken(by, { iat: this.seconds, ...members });
    return this.service.post(LOGOUT_PATH, { logout_token: token }, headers);
  }
}

describeOnEachDatabase('[D131] a logout by the provider', (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { trustedKeys, clock });
  const scene = new Scene(service, clock);

  /** Each test has seconds of its own. */
  beforeEach(() => clock.advance(10));

  it('by sub ends sessions and access tokens, as subject and as actor, and no others', async () => {
    const ended = [
      await scene.session('ada'),
      await scene.session('ada', { sid: 'browser' }),
      await scene.bearer('ada'),
      await scene.bearer('bob', 'ada'),
      await scene.bearer('ada', 'bob'),
    ];
    const left = [
      await scene.session('bob'),
      await scene.session('ada', {}, other),
      await scene.bearer('bob'),
    ];
    expect(await scene.all([...ended, ...left])).toEqual(Array<number>(8).fill(200));
    const answer = await scene.post({ sub: 'ada' });
    expect([answer.status, await answer.text(), answer.headers.get('cache-control')]).toEqual([
      200,
      '',
      'no-store',
    ]);
    expect(await scene.all(ended)).toEqual(Array<number>(5).fill(401));
    expect(await scene.all(left)).toEqual([200, 200, 200]);
  });

  it('by sid ends what that session of the provider has opened, and nothing else', async () => {
    const ended = [
      await scene.session('cid', { sid: 'one' }),
      await scene.bearer('cid', undefined, { sid: 'one' }),
    ];
    const left = [
      await scene.session('cid', { sid: 'two' }),
      await scene.session('cid'),
      await scene.session('cid', { sid: 'one' }, other),
    ];
    expect((await scene.post({ sid: 'one', sub: null, nonce: null })).status).toBe(200);
    expect(await scene.all(ended)).toEqual([401, 401]);
    expect(await scene.all(left)).toEqual([200, 200, 200]);
  });

  it('does not change the account: a new login succeeds in the next second, and ended sessions stay ended', async () => {
    const before = await scene.session('gus');
    await scene.post({ sub: 'gus' });
    clock.advance(1);
    expect(await scene.all([await scene.session('gus'), await scene.bearer('gus'), before])).toEqual([
      200, 200, 401,
    ]);
  });

  it('[P.logoutIssuer] is accepted from the provider that the entry names, and that provider signs no user in', async () => {
    const session = await scene.session('hal');
    expect((await scene.post({ sub: 'hal', aud: 'other' }, provider)).status).toBe(400);
    expect(await scene.me(session)).toBe(200);
    expect((await scene.post({ sub: 'hal' }, provider)).status).toBe(200);
    expect(await scene.me(session)).toBe(401);
    const login = provider.sign(provider.claims({ sub: 'hal', iat: scene.seconds, aud: BASE_URL }));
    expect((await service.embed({ token: login })).status).toBe(401);
  });

  it('[P.logoutIssuer] still may if a stored entry has the issuer of that provider', async () => {
    const usurper = Partner.create({ issuer: provider.issuer, kid: provider.kid, audience: BASE_URL });
    const entries = service.part(StoredEntryService);
    await entries.add({ ...usurper.staticEntry(), name: 'usurper' });
    const session = await scene.session('hal');
    expect((await scene.post({ sub: 'hal' }, usurper)).status).toBe(400);
    expect((await scene.post({ sub: 'hal' }, provider)).status).toBe(200);
    expect(await scene.me(session)).toBe(401);
    await entries.remove('usurper');
  });

  it('is recorded for its user, with what it has ended', async () => {
    await scene.session('joy', { sid: 'one' });
    await scene.session('joy', { sid: 'two' });
    const user = await linkedUser(service, partner.issuer, 'joy');
    await scene.post({ sub: 'joy' }, partner, { 'x-request-id': 'logout-of-joy' });
    await scene.post({ sid: 'unknown' }, partner, { 'x-request-id': 'logout-of-nothing' });
    expect(await eventsOf(service, 'logout-of-joy')).toMatchObject([
      {
        name: `${EVENT}logout`,
        subjectUserId: user?.id,
        payload: { issuer: partner.issuer, kid: partner.kid, ends: 'subject', sessions: 2 },
      },
      {
        name: 'svc.audit.session.ended',
        subjectUserId: user?.id,
        payload: { sessions: 2, cause: 'signed-out-by-provider' },
      },
    ]);
    expect(await eventsOf(service, 'logout-of-nothing')).toMatchObject([
      { name: `${EVENT}logout`, subjectUserId: null, payload: { ends: 'session', sessions: 0 } },
    ]);
  });

  it('is stored until everything that it ends has expired, and then deleted', async () => {
    await scene.post({ sub: 'kim' });
    const kept = async () => (await service.rows('SELECT 1 FROM token_exchange_logout')).length;
    const before = await kept();
    await service.rows(`UPDATE token_exchange_logout SET received_at = received_at - interval '24 hours'`);
    await service.purge('revocation-purge');
    expect(await kept()).toBe(before);
    await service.rows(`UPDATE token_exchange_logout SET received_at = received_at - interval '2 hours'`);
    await service.purge('revocation-purge');
    expect(await kept()).toBe(0);
  });

  it('[D132] refuses a login under way, whose token was issued before', async () => {
    const [login, subject, actor] = [scene.token('ada'), scene.token('ada'), scene.token('ada')];
    clock.advance(1);
    await scene.post({ sub: 'ada' });
    const answer = await service.embed({ token: login });
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'signed_out_by_provider' }]);
    const tokens = [{ subject_token: subject }, { subject_token: scene.token('bob'), actor_token: actor }];
    for (const fields of tokens) {
      const exchange = await service.exchange(fields);
      expect([exchange.status, await exchange.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    }
  });
});

describeOnAnyDatabase('[D79] refused logouts', (database) => {
  const environment = {
    SVC_PROXY_HOPS: '1',
    SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000',
    SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000',
  };
  const service = TestService.forBlock(database, { trustedKeys, environment });
  const events = (name: string) => countEvents(service, `${EVENT}${name}`);
  const lines = () => service.log.filter(({ event }) => event === `${EVENT}logout-failed`).length;
  const from = (address: number) => ({
    'x-forwarded-for': `192.0.${Math.floor(address / 200)}.${address % 200}`,
  });
  const send = async (token: string, address: number, times: number) => {
    for (let count = 0; count < times; count += 1)
      expect((await service.post(LOGOUT_PATH, { logout_token: token }, from(address))).status).toBe(400);
  };

  it('by strangers are recorded ten times a minute for each address, and always counted', async () => {
    await send('a.b.c', 1, 15);
    await send(partner.sign().replace(/.$/, '!'), 1, 5);
    expect([await events('logout-failed'), lines()]).toEqual([10, 10]);
    const metrics = await metricsOf(service);
    expect(metrics).toContain('svc_logouts_total{outcome="failed",reason="token_malformed"} 20');
  });

  it('by all strangers are recorded 600 times a minute', async () => {
    await Promise.all(Array.from({ length: 65 }, (_, address) => send('a.b.c', 2 + address, 10)));
    expect([await events('logout-failed'), lines()]).toEqual([600, 600]);
  });

  it('by a partner are all recorded, as are all refused exchanges and logins', async () => {
    const before = await events('logout-failed');
    await send(logoutToken(partner, { sub: 'ada', aud: 'https://elsewhere.example' }), 1, 15);
    expect(await events('logout-failed')).toBe(before + 15);
    for (let count = 0; count < 15; count += 1) {
      await service.exchange({ subject_token: 'a.b.c' }, from(1));
      await service.embed({ token: 'a.b.c' }, from(1));
    }
    expect([await events('failed'), await events('embed-login-failed')]).toEqual([15, 15]);
  });
});

describeOnAnyDatabase('[D130] the endpoint of logouts', (database) => {
  const LIMIT = 12;
  const clock = new TestClock();
  const environment = { SVC_TOKEN_EXCHANGE_LOGOUT_PER_MINUTE: String(LIMIT), SVC_PROXY_HOPS: '1' };
  const service = TestService.forBlock(database, { trustedKeys, clock, environment });
  const scene = new Scene(service, clock);

  beforeEach(() => clock.advance(61));

  const REFUSED = { error: 'invalid_request', error_description: 'Logout token validation failed' };

  const sent = (token: string, requestId: string, address = 1) =>
    service.post(
      LOGOUT_PATH,
      { logout_token: token },
      { 'x-request-id': requestId, 'x-forwarded-for': `192.0.2.${address}` },
    );

  it('performs a logout once: a repeated token is answered 200, and ends and records nothing', async () => {
    const token = logoutToken(partner, { sub: 'ada', iat: scene.seconds });
    const atOnce = await Promise.all([sent(token, 'at-once-both'), sent(token, 'at-once-both')]);
    expect(atOnce.map(({ status }) => status)).toEqual([200, 200]);
    expect(await eventsOf(service, 'at-once-both')).toMatchObject([{ name: `${EVENT}logout` }]);
    clock.advance(2);
    const session = await scene.session('ada');
    const again = await sent(token, 'again-the-same');
    expect([again.status, await again.text()]).toEqual([200, '']);
    expect(await scene.me(session)).toBe(200);
    expect(await eventsOf(service, 'again-the-same')).toEqual([]);
  });

  it('refuses the `jti` of a login, and of the logout of another issuer', async () => {
    const [ofLogin, ofOther] = [randomUUID(), randomUUID()];
    const session = await scene.session('ada', { jti: ofLogin });
    expect((await scene.post({ sub: 'ada', jti: ofOther }, other)).status).toBe(200);
    for (const jti of [ofLogin, ofOther]) {
      const requestId = `again-${jti}`;
      const answer = await scene.post({ sub: 'ada', jti }, partner, { 'x-request-id': requestId });
      expect([answer.status, await answer.json(), answer.headers.get('cache-control')]).toEqual([
        400,
        REFUSED,
        'no-store',
      ]);
      expect(await eventsOf(service, requestId)).toMatchObject([
        {
          name: `${EVENT}logout-failed`,
          payload: { flow: 'logout', reason: 'token_replayed', issuer: partner.issuer },
        },
      ]);
    }
    expect(await scene.me(session)).toBe(200);
  });

  it('does not count a repeated token against its issuer', async () => {
    const token = logoutToken(partner, { sub: 'ada', iat: scene.seconds });
    const statuses = new Set<number>();
    for (let count = 0; count <= 2 * LIMIT; count += 1)
      statuses.add((await sent(token, 'repeated-often', count)).status);
    expect([...statuses]).toEqual([200]);
    expect((await scene.post({ sub: 'bob' }, partner, { 'x-forwarded-for': '192.0.2.99' })).status).toBe(200);
  });

  it('answers every refused token in the same way, and the trail has the cause', async () => {
    const claims = { sub: 'bob', iat: scene.seconds };
    const attacks: Record<string, string> = {
      claims_invalid: partner.sign(partner.claims({ ...claims, nonce: 'n' })),
      audience_mismatch: logoutToken(partner, { ...claims, aud: 'https://elsewhere.example' }),
      issuer_unknown: logoutToken(partner, { ...claims, iss: 'https://stranger.example' }),
      token_malformed: 'no token',
    };
    const session = await scene.session('bob');
    for (const [reason, token] of Object.entries(attacks)) {
      const answer = await service.post(LOGOUT_PATH, { logout_token: token }, { 'x-request-id': reason });
      expect([answer.status, await answer.json()]).toEqual([400, REFUSED]);
      expect(await eventsOf(service, reason)).toMatchObject([{ payload: { reason } }]);
    }
    expect(await scene.me(session)).toBe(200);
  });

  it('requires a form with logout_token', async () => {
    const missing = await service.post(LOGOUT_PATH, {});
    expect([missing.status, await missing.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'logout_token is required' },
    ]);
    const body = JSON.stringify({ logout_token: 'a' });
    const headers = { 'content-type': 'application/json' };
    expect((await service.fetch(LOGOUT_PATH, { method: 'POST', body, headers })).status).toBe(415);
    expect((await service.fetch(LOGOUT_PATH)).status).toBe(405);
  });

  it('counts verified logouts by issuer, from any address', async () => {
    const from = (address: number) => ({ 'x-forwarded-for': `192.0.2.${address}` });
    const statuses: number[] = [];
    for (let count = 0; count <= LIMIT; count += 1)
      statuses.push((await scene.post({ sub: 'ada' }, partner, from(count))).status);
    expect(statuses).toEqual([...Array<number>(LIMIT).fill(200), 429]);
    const blocked = await scene.post({ sub: 'ada' }, partner, from(99));
    expect([blocked.status, Number(blocked.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await scene.post({ sub: 'ada' }, other, from(100))).status).toBe(200);
  });
});
