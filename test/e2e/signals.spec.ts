// A company's identity provider tells of ended sessions and disabled accounts (Shared Signals): what that ends, disables and enables here.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { EVENT, eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { JwksServer, status } from '../support/jwks-server.js';
import { changeUser, createUser, linkedUser, linkUser, storedUser } from '../support/local-users.js';
import { cookieOf } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import type { TestEvent } from '../support/transmitter.js';
import { EVENTS_PATH, TestTransmitter } from '../support/transmitter.js';

const ISSUER = 'https://login.company.example/realms/staff';
/** Signs tokens of the company's people, with the provider's issuer. */
const company = Partner.create({ issuer: ISSUER, audience: BASE_URL });
/** Knows some of the same people. */
const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });

const TRUSTED_KEYS = [
  company.staticEntry({ emailDomains: ['people.example'], linkPrivileged: true }),
  other.staticEntry(),
];

/** A service with a stopped clock, and its requests. */
class Scene {
  readonly clock = new TestClock();
  readonly keySet = JwksServer.forBlock();
  readonly transmitter = new TestTransmitter(ISSUER, this.keySet);
  service!: TestService;

  get seconds(): number {
    return Math.floor(this.clock.nowSeconds());
  }

  async start(
    database: Parameters<typeof TestService.start>[0],
    environment: Record<string, string> = {},
    trustedKeys: readonly object[] = TRUSTED_KEYS,
  ) {
    this.keySet.publish(this.transmitter.provider.jwks());
    this.service = await TestService.start(database, {
      clock: this.clock,
      trustedKeys,
      environment: {
        SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        SVC_SIGNALS_TRANSMITTERS: JSON.stringify([this.transmitter.configured()]),
        ...environment,
      },
    });
  }

  async session(sub: string, claims: Members = {}, by = company): Promise<Record<string, string>> {
    const token = by.sign(
      by.claims({ sub, iat: this.seconds, email: `${sub}@people.example`, email_verified: true, ...claims }),
    );
    const answer = await this.service.embed({ token });
    if (answer.status !== 303) throw new Error(`the login answered ${answer.status}: ${await answer.text()}`);
    return { cookie: cookieOf(answer) };
  }

  async bearer(sub: string): Promise<Record<string, string>> {
    const token = company.sign(company.claims({ sub, iat: this.seconds, email: `${sub}@people.example` }));
    return { authorization: `Bearer ${await this.service.accessToken({ subject_token: token })}` };
  }

  async all(credentials: readonly Record<string, string>[]): Promise<number[]> {
    return Promise.all(
      credentials.map(async (headers) => (await this.service.fetch('/rest/me', { headers })).status),
    );
  }

  async tell(
    type: TestEvent,
    subject?: unknown,
    event: Members = {},
    claims: Members = {},
  ): Promise<Response> {
    return this.transmitter.send(
      this.service,
      this.transmitter.token(type, this.seconds, subject, event, claims),
    );
  }

  async isEnabled(sub: string): Promise<boolean | undefined> {
    return (await linkedUser(this.service, ISSUER, sub))?.enabled;
  }
}

describeOnEachDatabase('[D147] a security event', (database) => {
  const scene = new Scene();
  beforeAll(() => scene.start(database));
  afterAll(() => scene.service.stop());
  /** Each test has seconds of its own. */
  beforeEach(() => scene.clock.advance(10));

  it('about a revoked session ends that session in frames and logins without a session, and none of another issuer', async () => {
    const ended = [
      await scene.session('ada', { sid: 'one' }),
      await scene.session('ada'),
      await scene.bearer('ada'),
    ];
    const left = [await scene.session('ada', { sid: 'two' }), await scene.session('ada', {}, other)];
    const session = { format: 'opaque', id: 'one' };
    const subject = { format: 'complex', user: scene.transmitter.user('ada'), session };
    const answer = await scene.tell('session-revoked', subject);
    expect([answer.status, await answer.text(), answer.headers.get('cache-control')]).toEqual([
      202,
      '',
      'no-store',
    ]);
    expect(await scene.all([...ended, ...left])).toEqual([401, 401, 401, 200, 200]);
    const me = await scene.service.fetch('/rest/me', { headers: ended[0]! });
    expect(await me.json()).toMatchObject({ error: 'signed_out_by_provider' });
    const user = await linkedUser(scene.service, ISSUER, 'ada');
    expect(await eventsOf(scene.service, answer)).toMatchObject([
      {
        name: `${EVENT}signal`,
        subjectUserId: user?.id,
        payload: { issuer: ISSUER, event: 'session-revoked', effect: 'signed-out', sessions: 2 },
      },
      { name: 'svc.audit.session.ended', payload: { cause: 'signed-out-by-provider', sessions: 2 } },
    ]);
  });

  it.each([
    ['session-revoked', {}, 401],
    ['credential-change', { change_type: 'revoke', credential_type: 'password' }, 401],
    ['credential-change', { change_type: 'create', credential_type: 'password' }, 200],
    ['device-compliance-change', { current_status: 'not-compliant' }, 200],
  ] as const)('%s %j about a user leaves sessions answered with %i', async (type, event, expected) => {
    const credentials = [await scene.session('bob', { sid: 'one' }), await scene.bearer('bob')];
    expect((await scene.tell(type, scene.transmitter.user('bob'), event)).status).toBe(202);
    expect(await scene.all(credentials)).toEqual([expected, expected]);
    expect(await scene.isEnabled('bob')).toBe(true);
  });

  it.each([
    ['iss_sub', (sub: string) => ({ format: 'iss_sub', iss: ISSUER, sub }), 401],
    ['a linked opaque id', (sub: string) => ({ format: 'opaque', id: sub }), 401],
    [
      'an address for which an entry vouches',
      (sub: string) => ({ format: 'email', email: `${sub}@people.example` }),
      401,
    ],
    ['a complex subject with a session', () => ({ session: { format: 'opaque', id: 'of-cid' } }), 401],
    ['iss_sub of another issuer', (sub: string) => ({ format: 'iss_sub', iss: other.issuer, sub }), 200],
    ['an address of another domain', () => ({ format: 'email', email: 'cid@elsewhere.example' }), 200],
  ])('names a user by %s', async (_, subject, expected) => {
    const session = await scene.session('cid', { sid: 'of-cid' });
    const elsewhere = await scene.session('cid', { sid: 'of-cid', email: 'cid@elsewhere.example' }, other);
    expect((await scene.tell('session-revoked', subject('cid'))).status).toBe(202);
    expect(await scene.all([session, elsewhere])).toEqual([expected, 200]);
  });

  it('identifies no user by an address for which no entry of the issuer vouches, not even a linked one', async () => {
    const id = await createUser(scene.service, { email: 'oda@elsewhere.example' });
    await linkUser(scene.service, ISSUER, 'oda', id);
    const session = await scene.session('oda');
    const subject = { format: 'email', email: 'oda@elsewhere.example' };
    expect((await scene.tell('sessions-revoked', subject)).status).toBe(202);
    expect(await scene.all([session])).toEqual([200]);
  });

  it('[D132] that arrives late ends sessions and tokens from before its time, and no later ones', async () => {
    const before = await scene.session('eve');
    const token = scene.transmitter.token('sessions-revoked', scene.seconds, scene.transmitter.user('eve'));
    scene.clock.advance(600);
    const after = [await scene.session('eve'), await scene.bearer('eve')];
    expect((await scene.transmitter.send(scene.service, token)).status).toBe(202);
    expect(await scene.all([before, ...after])).toEqual([401, 200, 200]);
    const late = company.sign(
      company.claims({ sub: 'eve', iat: scene.seconds - 605, exp: scene.seconds + 55 }),
    );
    expect((await scene.service.exchange({ subject_token: late })).status).toBe(400);
  });

  it('is acknowledged without effect if it is repeated', async () => {
    await scene.session('gus');
    const token = scene.transmitter.token('account-disabled', scene.seconds, scene.transmitter.user('gus'));
    expect((await scene.transmitter.send(scene.service, token)).status).toBe(202);
    const user = await linkedUser(scene.service, ISSUER, 'gus');
    await changeUser(scene.service, user!.id, { enabled: true });
    scene.clock.advance(1_000);
    const again = await scene.transmitter.send(scene.service, token);
    expect([again.status, await eventsOf(scene.service, again)]).toEqual([202, []]);
    expect(await scene.isEnabled('gus')).toBe(true);
  });

  it('[2.6] has an id that is stored for two days after its iat, separately from ids of tokens', async () => {
    const claims = { jti: `shared-${scene.seconds}` };
    const email = 'hal@people.example';
    const token = company.sign(company.claims({ sub: 'hal', email, iat: scene.seconds, ...claims }));
    expect((await scene.service.exchange({ subject_token: token })).status).toBe(200);
    const answer = await scene.tell('sessions-revoked', scene.transmitter.user('hal'), {}, claims);
    expect((await eventsOf(scene.service, answer)).length).toBe(1);
    const [row] = await scene.service.rows<{ kept: number }>(
      'SELECT extract(epoch FROM max(expires_at))::float8 AS kept FROM token_exchange_used_jti',
    );
    expect(row?.kept).toBe(scene.seconds + 2 * 86_400);
  });

  const tell = (type: TestEvent, sub: string, at = scene.seconds) =>
    scene.transmitter.send(
      scene.service,
      scene.transmitter.token(type, scene.seconds, scene.transmitter.user(sub), { event_timestamp: at }),
    );

  it.each(['account-disabled', 'account-purged'] as const)(
    '%s disables the user whom the issuer provisioned, and account-enabled enables that user',
    async (type) => {
      const credentials = [await scene.session(type), await scene.bearer(type)];
      const answer = await tell(type, type);
      expect(answer.status).toBe(202);
      expect(await scene.isEnabled(type)).toBe(false);
      expect(await scene.all(credentials)).toEqual([401, 401]);
      expect(await eventsOf(scene.service, answer)).toMatchObject([
        { name: `${EVENT}signal`, payload: { event: type, effect: 'disabled', sessions: 1 } },
        { name: 'svc.audit.session.ended' },
      ]);
      scene.clock.advance(5);
      const enabled = await tell('account-enabled', type);
      expect(await eventsOf(scene.service, enabled)).toMatchObject([{ payload: { effect: 'enabled' } }]);
      expect(await scene.isEnabled(type)).toBe(true);
      expect(await scene.all([...credentials, await scene.session(type)])).toEqual([401, 401, 200]);
    },
  );

  it('account-disabled has no effect after a newer account-enabled, but wins within one second', async () => {
    await scene.session('ida');
    const { seconds } = scene;
    scene.clock.advance(5);
    await tell('account-enabled', 'ida');
    await tell('account-disabled', 'ida', seconds);
    expect(await scene.isEnabled('ida')).toBe(true);
    scene.clock.advance(5);
    await tell('account-disabled', 'ida');
    await tell('account-enabled', 'ida');
    expect(await scene.isEnabled('ida')).toBe(false);
  });

  it('account-disabled only signs out a user whom the issuer has not provisioned', async () => {
    await scene.session('joy', {}, other);
    const session = await scene.session('joy');
    const answer = await tell('account-disabled', 'joy');
    expect(await eventsOf(scene.service, answer)).toMatchObject([{ payload: { effect: 'signed-out' } }, {}]);
    expect([await scene.isEnabled('joy'), await scene.all([session])]).toEqual([true, [401]]);
  });

  it.each(['global:admin', 'global:owner'] as const)(
    'account-disabled only signs out a user who is %s by now',
    async (role) => {
      const session = await scene.session(role.replace(':', '-'));
      const user = await linkedUser(scene.service, ISSUER, role.replace(':', '-'));
      await changeUser(scene.service, user!.id, { role });
      await tell('account-disabled', role.replace(':', '-'));
      expect((await storedUser(scene.service, user!.id)).enabled).toBe(true);
      expect(await scene.all([session])).toEqual([401]);
    },
  );

  it('account-enabled enables no user whom an operator has disabled, before or after account-disabled', async () => {
    for (const order of ['before', 'after']) {
      await scene.session(order);
      const { id } = (await linkedUser(scene.service, ISSUER, order))!;
      if (order === 'before') await changeUser(scene.service, id, { enabled: false });
      await tell('account-disabled', order);
      if (order === 'after') await changeUser(scene.service, id, { enabled: false });
      scene.clock.advance(5);
      await tell('account-enabled', order);
      expect((await storedUser(scene.service, id)).enabled).toBe(false);
    }
  });

  it('account-enabled of another transmitter has no effect', async () => {
    await scene.session('kim');
    await tell('account-disabled', 'kim');
    scene.clock.advance(5);
    const { id } = (await linkedUser(scene.service, ISSUER, 'kim'))!;
    await scene.service.rows(
      `UPDATE user_account SET disabled_by = 'https://another.example' WHERE id = $1`,
      [id],
    );
    await tell('account-enabled', 'kim');
    expect(await scene.isEnabled('kim')).toBe(false);
  });
});

describeOnAnyDatabase('[D147] the receiver of security events', (database) => {
  const scene = new Scene();
  beforeAll(() => scene.start(database));
  afterAll(() => scene.service.stop());
  beforeEach(() => scene.clock.advance(10));
  const answerTo = async (answer: Response) => [
    answer.status,
    ((await answer.json()) as { err: string }).err,
  ];
  const token = (claims: Members = {}) =>
    scene.transmitter.token('sessions-revoked', scene.seconds, scene.transmitter.user('lea'), {}, claims);

  it('answers by RFC 8935: JSON with err and description, and its language', async () => {
    const answer = await scene.transmitter.send(scene.service, token({ aud: 'another' }));
    expect([answer.status, answer.headers.get('content-language'), await answer.json()]).toEqual([
      400,
      'en',
      { err: 'invalid_audience', description: 'The security event token was refused' },
    ]);
    expect(await eventsOf(scene.service, answer)).toMatchObject([
      { name: `${EVENT}signal-refused`, payload: { reason: 'audience_mismatch', issuer: ISSUER } },
    ]);
  });

  it.each([
    ['the issuer of another', () => token({ iss: other.issuer }), 'invalid_issuer'],
    ['an iat over a day ago', () => token({ iat: scene.seconds - 86_401 }), 'invalid_request'],
    ['a key that is not published', () => company.sign({}, { typ: 'secevent+jwt' }), 'invalid_request'],
    ['nothing', () => '', 'invalid_request'],
  ])('refuses a token with %s', async (_, made, err) => {
    const session = await scene.session('lea');
    expect(await answerTo(await scene.transmitter.send(scene.service, made()))).toEqual([400, err]);
    expect(await scene.all([session])).toEqual([200]);
  });

  it.each([
    ['another secret', { authorization: `Bearer ${'x'.repeat(40)}` }],
    ['no secret', { authorization: '' }],
  ])('refuses a request with %s before it reads the token', async (_, headers) => {
    const answer = await scene.transmitter.send(scene.service, 'no token', headers);
    expect(await answerTo(answer)).toEqual([400, 'authentication_failed']);
  });

  it('refuses another media type, an encoding and a body that is too large', async () => {
    const sent = (headers: Record<string, string>, text = token()) =>
      scene.transmitter.send(scene.service, text, headers);
    expect(await answerTo(await sent({ 'content-type': 'application/jwt' }))).toEqual([
      415,
      'invalid_request',
    ]);
    expect(await answerTo(await sent({ 'content-encoding': 'gzip' }))).toEqual([415, 'invalid_request']);
    expect(await answerTo(await sent({}, 'x'.repeat(300_000)))).toEqual([413, 'invalid_request']);
    expect((await sent({ 'content-type': 'Application/SecEvent+JWT; charset=utf-8' })).status).toBe(202);
  });

  it('accepts no external token, and no event is accepted as one', async () => {
    const claims = company.claims({ sub: 'lea', iat: scene.seconds });
    expect((await scene.transmitter.send(scene.service, company.sign(claims))).status).toBe(400);
    expect((await scene.service.exchange({ subject_token: token() })).status).toBe(400);
    expect((await scene.service.fetch(EVENTS_PATH)).status).toBe(405);
  });
});

describeOnAnyDatabase('[D147] many security events', (database) => {
  const scene = new Scene();
  beforeAll(() => scene.start(database, { SVC_SIGNALS_PER_MINUTE: '5' }));
  afterAll(() => scene.service.stop());

  it('get 429 with Retry-After above the limit of their transmitter, from any address', async () => {
    const send = (index: number) =>
      scene.transmitter.send(
        scene.service,
        scene.transmitter.token('sessions-revoked', scene.seconds, scene.transmitter.user('max')),
        { 'x-forwarded-for': `10.0.0.${index}` },
      );
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => send(index)));
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429, 429, 429]);
    const refused = answers.find((answer) => answer.status === 429)!;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ err: 'too_many_requests' });
    scene.clock.advance(61);
    expect((await send(9)).status).toBe(202);
  });
});

describeOnAnyDatabase('[D147] a transmitter whose key set is gone', (database) => {
  const scene = new Scene();
  beforeAll(async () => {
    scene.keySet.answerWith(status(404));
  });

  it('is refused until the key set is there, and can send the same event then', async () => {
    await scene.start(database);
    const { service, transmitter } = scene;
    scene.keySet.answerWith(status(404));
    await service.restart();
    await service.rows('DELETE FROM token_exchange_jwks_snapshot');
    await service.restart();
    const token = transmitter.token('sessions-revoked', scene.seconds, transmitter.user('ned'));
    const refused = await transmitter.send(service, token);
    expect([refused.status, await refused.json()]).toMatchObject([400, { err: 'invalid_key' }]);
    scene.keySet.publish(transmitter.provider.jwks());
    await service.restart();
    expect((await transmitter.send(service, token)).status).toBe(202);
    await service.stop();
  });
});

describeOnAnyDatabase('[D147] a transmitter with the key set of a trusted key entry', (database) => {
  const scene = new Scene();

  it('has its events accepted, and signs users in by tokens of the entry', async () => {
    const { transmitter, keySet } = scene;
    const entry = {
      type: 'jwks',
      issuer: ISSUER,
      url: keySet.url,
      expectedAudience: BASE_URL,
      emailDomains: ['people.example'],
    };
    await scene.start(database, {}, [entry]);
    const session = await scene.session('pia', { aud: BASE_URL }, transmitter.provider);
    expect((await scene.tell('account-disabled', transmitter.user('pia'))).status).toBe(202);
    expect([await scene.all([session]), await scene.isEnabled('pia')]).toEqual([[401], false]);
    await scene.service.stop();
  });
});
