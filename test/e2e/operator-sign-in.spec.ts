// The sign-in of the operator's page: who comes in, for how long, how often one may try, and what ends it.
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { Partner } from '../../demo/partner.js';
import { PasswordHasher } from '../../src/administration/accounts/passwords.js';
import { Database } from '../../src/platform/database/database.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase, describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { changeUser, createUser, linkedUser } from '../support/local-users.js';
import { cookieOf } from '../support/logins.js';
import { MetricSamples } from '../support/metric-samples.js';
import {
  createOperator,
  errorOf,
  makeCode,
  OPERATOR_ENVIRONMENT,
  OperatorBrowser,
  PASSWORD,
  setPassword,
  signedIn,
} from '../support/operators.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const PATIENCE_MS = 60_000;
const KNOCKS = 12;
const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const OTHER_PASSWORD = 'another long password';
/** Addresses in several spellings, and some that do not exist. */
const UNFRAMED = [
  ...['/rest/admin/session', '/rest/admin/unknown', '/admin', '/admin/'],
  ...['/%61dmin', '/admi%6e', '/%61dmin/', '/rest/%61dmin/session', '/r%65st/admin/unknown', '/%61dmi%'],
];

async function hashesOf(service: TestService): Promise<number> {
  return (await MetricSamples.read(service)).value('svc_operator_password_hashes_total');
}

async function events(service: TestService, name: string) {
  return (await eventsOf(service)).filter((event) => event.name === `svc.audit.operator.${name}`);
}

function knock(service: TestService, address = '192.0.2.1'): Promise<Response> {
  const browser = new OperatorBrowser(service, address);
  browser.cookie = `__Host-svc-operator=${randomBytes(32).toString('base64url')}`;
  return browser.get('session');
}

describeOnEachDatabase("the operator's sign-in", (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { environment: OPERATOR_ENVIRONMENT, clock });
  let ada: string;

  beforeAll(async () => {
    ada = await createOperator(service, 'Ada@example.com', 'global:owner');
  });
  it('[D105] lets an owner in, with a cookie that no script reads and no other site sends', async () => {
    const browser = new OperatorBrowser(service);
    const answer = await browser.signIn('ada@EXAMPLE.com');
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({
      operator: { id: ada, email: 'Ada@example.com', role: 'global:owner' },
      idleSeconds: 1800,
      expiresInSeconds: 28_800,
    });
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-svc-operator=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(await browser.status()).toBe(200);
    const stored = JSON.stringify(await service.rows('SELECT * FROM operator_session'));
    expect(stored).not.toContain(browser.cookie.split('=')[1]);
  });

  it('[D105] answers a wrong password, an unknown account and other failures in the same way, after one hash each', async () => {
    await createOperator(service, 'disabled@example.com');
    await service.rows(`UPDATE user_account SET enabled = false WHERE email = 'disabled@example.com'`);
    await createOperator(service, 'demoted@example.com');
    await service.rows(`UPDATE user_account SET role = 'global:member' WHERE email = 'demoted@example.com'`);
    await createUser(service, { email: 'bare@example.com', role: 'global:admin' });
    const tries = [
      ['ada@example.com', 'a wrong password indeed'],
      ['nobody@example.com', PASSWORD],
      ['disabled@example.com', PASSWORD],
      ['demoted@example.com', PASSWORD],
      ['bare@example.com', PASSWORD],
    ] as const;
    for (const [email, password] of tries) {
      const before = await hashesOf(service);
      const answer = await new OperatorBrowser(service, '192.0.2.2').signIn(email, password);
      const { requestId: _id, ...body } = (await answer.json()) as Record<string, unknown>;
      expect([answer.status, body]).toEqual([
        401,
        { error: 'invalid_credentials', message: 'The e-mail address or the password is wrong' },
      ]);
      // No scheme would be true: a browser asks by a form, and a token is never taken.
      expect(answer.headers.get('www-authenticate')).toBeNull();
      expect((await hashesOf(service)) - before).toBe(1);
    }
    const told = await events(service, 'sign-in-failed');
    expect(told.map(({ payload }) => payload)).toEqual(
      ['wrong_password', 'unknown_account', 'user_disabled', 'not_privileged', 'no_password'].map(
        (reason) => ({
          reason,
          clientAddress: '192.0.2.2',
        }),
      ),
    );
    expect(told.map(({ subjectUserId }) => subjectUserId !== null)).toEqual([true, false, true, true, true]);
    expect(told[0]?.subjectUserId).toBe(ada);
  });

  it('[D107] makes an account wait from the fifth failure on, for that address alone, and never locks it', async () => {
    const attacker = new OperatorBrowser(service, '198.51.100.1');
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++)
      statuses.push((await attacker.signIn('ada@example.com', 'a guess that is wrong')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    const waiting = await attacker.signIn('ada@example.com');
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await new OperatorBrowser(service, '198.51.100.2').signIn('ada@example.com')).status).toBe(201);

    clock.advance(1);
    expect((await attacker.signIn('ada@example.com', 'a guess that is wrong')).status).toBe(401);
    expect((await attacker.signIn('ada@example.com')).headers.get('retry-after')).toBe('2');
    clock.advance(2);
    expect((await attacker.signIn('ada@example.com')).status).toBe(201);
    expect((await attacker.signIn('ada@example.com', 'a guess that is wrong')).status).toBe(401);
  });

  it('[D105] ends a session eight hours after its sign-in, and half an hour after its last use', async () => {
    const idle = await signedIn(service, 'ada@example.com', '192.0.2.3');
    const used = await signedIn(service, 'ada@example.com', '192.0.2.3');
    for (let minutes = 0; minutes < 8 * 60 - 20; minutes += 20) {
      clock.advance(20 * 60);
      expect(await used.status()).toBe(200);
      if (minutes === 20) expect(await idle.status()).toBe(401);
    }
    clock.advance(19 * 60);
    expect(await used.status()).toBe(200);
    clock.advance(60);
    expect(await errorOf(await used.get('session'))).toEqual([401, 'sign_in_required']);
    // They have ended by the clock of the service, and are kept until they have by the database's.
    await service.rows(`UPDATE operator_session SET expires_at = now() - interval '1 second'`);
    // Nor before the instance is sure again that it leads, with a clock that was set.
    await until('they are deleted', PATIENCE_MS, async () => {
      await service.purge('operator-purge');
      return (await service.rows('SELECT id FROM operator_session')).length === 0;
    });
  });

  it('[D106] takes a new password by a code: once, in time, and only by the rules of passwords', async () => {
    const carol = await createUser(service, { email: 'carol@example.com', role: 'global:admin' });
    const browser = new OperatorBrowser(service, '192.0.2.4');
    const set = (code: string, newPassword = OTHER_PASSWORD, email = 'carol@example.com') =>
      browser.send('POST', 'password', { email, code, newPassword });
    const late = await makeCode(service, carol);
    clock.advance(900);
    expect(await errorOf(await set(late))).toEqual([401, 'invalid_code']);

    const code = await makeCode(service, carol);
    expect(await errorOf(await set(code, 'too short'))).toEqual([400, 'bad_request']);
    expect(await errorOf(await set(code, 'x'.repeat(201)))).toEqual([400, 'bad_request']);
    expect(await errorOf(await set(code, OTHER_PASSWORD, 'ada@example.com'))).toEqual([401, 'invalid_code']);
    const done = browser.keeping(await set(code.toLowerCase().replaceAll('-', ' ')));
    expect([done.status, await browser.status()]).toEqual([201, 200]);
    expect(await errorOf(await set(code))).toEqual([401, 'invalid_code']);
    expect((await browser.signIn('carol@example.com', OTHER_PASSWORD)).status).toBe(201);
    const told = (await events(service, 'password-changed')).at(-1);
    expect([told?.subjectUserId, told?.payload]).toEqual([
      carol,
      { by: 'code', endedSessions: 0, clientAddress: '192.0.2.4' },
    ]);
  });

  it('[D107] makes those who guess codes wait', async () => {
    const browser = new OperatorBrowser(service, '198.51.100.9');
    const guess = {
      email: 'carol@example.com',
      code: 'AAAA-BBBB-CCCC-DDDD-EEEE',
      newPassword: OTHER_PASSWORD,
    };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++)
      statuses.push((await browser.send('POST', 'password', guess)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('[D105] ends all sessions of an operator by a new password, their own or of a command, and of no other', async () => {
    const dan = await createOperator(service, 'dan@example.com');
    const [first, second, other] = [
      await signedIn(service, 'dan@example.com'),
      await signedIn(service, 'dan@example.com'),
      await signedIn(service, 'ada@example.com'),
    ];
    const change = (password: string) =>
      second.send('PUT', 'password', { password, newPassword: OTHER_PASSWORD });
    expect(await errorOf(await change('not the password of dan'))).toEqual([401, 'invalid_credentials']);
    expect([await first.status(), await second.status()]).toEqual([200, 200]);
    const before = second.cookie;
    second.keeping(await change(PASSWORD));
    expect(second.cookie).not.toBe(before);
    expect([await first.status(), await second.status(), await other.status()]).toEqual([401, 200, 200]);

    await setPassword(service, dan, await new PasswordHasher().hash(PASSWORD));
    expect([await second.status(), await other.status()]).toEqual([401, 200]);
    expect((await events(service, 'password-changed')).slice(-2).map(({ payload }) => payload)).toEqual([
      { by: 'password', endedSessions: 2, clientAddress: '192.0.2.1' },
      { by: 'command', endedSessions: 1 },
    ]);
  });

  it('[D105] ends the sessions of those who are disabled or lose the role, for good', async () => {
    const eve = await createOperator(service, 'eve@example.com');
    const changes = [
      [{ enabled: false }, { enabled: true }],
      [{ role: 'global:member' }, { role: 'global:admin' }],
    ] as const;
    for (const [taken, given] of changes) {
      const browser = await signedIn(service, 'eve@example.com');
      await changeUser(service, eve, taken);
      expect(await browser.status()).toBe(401);
      await changeUser(service, eve, given);
      expect(await browser.status()).toBe(401);
    }
    const browser = await signedIn(service, 'eve@example.com');
    await service.rows(`UPDATE user_account SET role = 'global:member' WHERE id = $1`, [eve]);
    expect(await browser.status()).toBe(401);
  });

  it('[D7] [D105] ends sessions for good where a user was disabled and enabled by hand', async () => {
    const gwen = await createOperator(service, 'gwen@example.com');
    const browser = await signedIn(service, 'gwen@example.com');
    for (const enabled of [false, true])
      await service.rows('UPDATE user_account SET enabled = $2 WHERE id = $1', [gwen, enabled]);
    expect(await browser.status()).toBe(401);
    expect(await (await signedIn(service, 'gwen@example.com')).status()).toBe(200);
  });

  it('[D105] ends the session of a browser that signs in again', async () => {
    const browser = await signedIn(service, 'ada@example.com', '192.0.2.60');
    const before = new OperatorBrowser(service);
    before.cookie = browser.cookie;
    await browser.signIn('ada@example.com', 'not the password of ada');
    expect(await before.status()).toBe(200);
    await browser.signIn('ada@example.com');
    expect([await before.status(), await browser.status()]).toEqual([401, 200]);
    expect((await events(service, 'signed-out')).at(-1)).toMatchObject({
      subjectUserId: ada,
      payload: { clientAddress: '192.0.2.60' },
    });
  });

  it('[D106] reports a code that was taken a moment before', async () => {
    const fay = await createUser(service, { email: 'fay@example.com', role: 'global:admin' });
    const code = await makeCode(service, fay);
    const tries = ['192.0.2.61', '192.0.2.62'].map((address) =>
      new OperatorBrowser(service, address).send('POST', 'password', {
        ...{ email: 'fay@example.com', code, newPassword: OTHER_PASSWORD },
      }),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.sort((one, other) => one - other)).toEqual([201, 401]);
    const told = (await events(service, 'sign-in-failed')).filter(
      ({ subjectUserId }) => subjectUserId === fay,
    );
    expect(told.map(({ payload }) => payload.reason)).toEqual(['wrong_code']);
  });

  it('signs out of one browser, and accepts a repeated sign-out', async () => {
    const [one, other] = [
      await signedIn(service, 'ada@example.com'),
      await signedIn(service, 'ada@example.com'),
    ];
    const { length: toldBefore } = await events(service, 'signed-out');
    const out = await one.send('DELETE', 'session');
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      '__Host-svc-operator=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict',
    ]);
    expect([await one.status(), await other.status()]).toEqual([401, 200]);
    expect((await one.send('DELETE', 'session')).status).toBe(204);
    const told = await events(service, 'signed-out');
    expect(told.slice(-1).map(({ subjectUserId }) => subjectUserId)).toEqual([ada]);
    expect(told).toHaveLength(toldBefore + 1);
  });
});

describeOnAnyDatabase("the operator's API and other credentials", (database) => {
  const service = TestService.forBlock(database, {
    environment: OPERATOR_ENVIRONMENT,
    trustedKeys: [partner.staticEntry()],
  });
  let browser: OperatorBrowser;

  beforeAll(async () => {
    await createOperator(service, 'ada@example.com', 'global:owner');
    browser = await signedIn(service, 'ada@example.com');
  });
  const token = () =>
    partner.sign(partner.claims({ sub: 'boss', email: 'ada@example.com', email_verified: true }));

  it('[D109] refuses access tokens and embedded sessions, also of an owner', async () => {
    const bearer = `Bearer ${await service.accessToken({ subject_token: token() })}`;
    const embedded = cookieOf(await service.embed({ token: token() }));
    const mine = await service.fetch('/rest/me', { headers: { cookie: embedded } });
    expect(await mine.json()).toMatchObject({ user: { role: 'global:owner' } });
    const anonymous = new OperatorBrowser(service);
    const refused = [403, 'operator_session_required'];
    expect(
      await errorOf(await anonymous.send('GET', 'session', undefined, { authorization: bearer })),
    ).toEqual(refused);
    expect(await errorOf(await anonymous.send('GET', 'session', undefined, { cookie: embedded }))).toEqual(
      refused,
    );
    expect(await errorOf(await browser.send('GET', 'session', undefined, { authorization: bearer }))).toEqual(
      refused,
    );
    expect(await errorOf(await anonymous.get('session'))).toEqual([401, 'sign_in_required']);
    const both = { cookie: `${embedded}; ${browser.cookie}` };
    expect((await browser.send('GET', 'session', undefined, both)).status).toBe(200);
  });

  it("[D109] the operator's cookie opens nothing else", async () => {
    const [, secret = ''] = browser.cookie.split('=');
    for (const cookie of [browser.cookie, `__Host-svc-session=${secret}`]) {
      for (const path of ['/rest/me', '/api/v1/workflows'])
        expect((await service.fetch(path, { headers: { cookie } })).status).toBe(401);
    }
    const bearer = { headers: { authorization: `Bearer ${secret}` } };
    expect((await service.fetch('/rest/me', bearer)).status).toBe(401);
  });

  it.each([
    ['none', undefined],
    ['another', 'https://evil.example'],
    ['null', 'null'],
    ['one of the same site', `https://other.${new URL(BASE_URL).host}`],
    ['one with a slash', `${BASE_URL}/`],
  ])('[D109] a write needs our own origin, not %s', async (_name, origin) => {
    const writes = [
      ['POST', 'session', { email: 'ada@example.com', password: PASSWORD }],
      ['PUT', 'password', { password: PASSWORD, newPassword: OTHER_PASSWORD }],
      ['DELETE', 'session', undefined],
    ] as const;
    for (const [method, path, body] of writes)
      expect(await errorOf(await browser.send(method, path, body, { origin }))).toEqual([
        403,
        'csrf_refused',
      ]);
    expect(await browser.status()).toBe(200);
  });

  it('[D109] a reading of another site is refused, and no site gets permission', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const answer = await browser.send('GET', 'session', undefined, {
        'sec-fetch-site': site,
        origin: 'https://evil.example',
      });
      expect(answer.headers.has('access-control-allow-origin')).toBe(false);
      expect(await errorOf(answer)).toEqual([403, 'csrf_refused']);
    }
    const asked = await browser.send('OPTIONS', 'session', undefined, { origin: 'https://evil.example' });
    expect(asked.status).toBe(405);
  });

  it('[D109] takes JSON alone, and no method but its own', async () => {
    const body = { email: 'ada@example.com', password: PASSWORD };
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const answer = await browser.send('POST', 'session', body, { 'content-type': type });
      expect(await errorOf(answer)).toEqual([415, 'unsupported_media_type']);
    }
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' };
    expect((await browser.send('GET', 'session', undefined, headers)).status).toBe(200);
    expect(await browser.status()).toBe(200);
    const odd = await browser.send('POST', 'session', { ...body, remember: true });
    expect(await errorOf(odd)).toEqual([400, 'bad_request']);
  });

  it('[D111] no site may frame its answers, even one that may frame the rest', async () => {
    for (const path of UNFRAMED) {
      const { headers } = await service.fetch(path);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('[D113] its page runs only its own scripts, under Trusted Types', async () => {
    const policy = (await service.fetch('/admin')).headers.get('content-security-policy');
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe-');
  });

  it('[D106] no user from a token gets a password, and no member', async () => {
    const made = partner.claims({ sub: 'new', email: 'new@partner.example', email_verified: true });
    await service.accessToken({ subject_token: partner.sign({ ...made, role: 'global:admin' }) });
    const user = await linkedUser(service, partner.issuer, 'new');
    const id = user?.id ?? '';
    await service.rows(`UPDATE user_account SET role = 'global:admin' WHERE id = $1`, [id]);
    const hash = await new PasswordHasher().hash(PASSWORD);
    await expect(setPassword(service, id, hash)).rejects.toThrow(/partner's token created this user/);
    await expect(makeCode(service, id)).rejects.toThrow(/partner's token created this user/);
    const member = await createUser(service, { email: 'member@example.com' });
    await expect(setPassword(service, member, hash)).rejects.toThrow(/Only users with one of the roles/);
    // Linking an administrator later changes nothing of that.
    const boss = await linkedUser(service, partner.issuer, 'boss');
    await expect(setPassword(service, boss?.id ?? '', hash)).resolves.toMatchObject({ endedSessions: 1 });
  });
});

describeOnPostgresql("the operator's sign-in, on several instances", (database) => {
  const options = { environment: OPERATOR_ENVIRONMENT };
  const one = TestService.forBlock(database, options);
  const other = TestService.forBlock(database, options);

  it('[D107] counts failures together, and [D105] shares sessions', async () => {
    await createOperator(one, 'ada@example.com');
    const browsers = [one, other].map((service) => new OperatorBrowser(service, '198.51.100.7'));
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++)
      statuses.push(
        (await browsers[attempt % 2]?.signIn('ada@example.com', 'a wrong password'))?.status ?? 0,
      );
    expect(statuses).toEqual([401, 401, 401, 401, 401]);
    const { cookie } = await signedIn(one, 'ada@example.com', '192.0.2.1');
    const elsewhere = new OperatorBrowser(other);
    elsewhere.cookie = cookie;
    expect(await elsewhere.status()).toBe(200);
    await elsewhere.send('DELETE', 'session');
    const again = new OperatorBrowser(one);
    again.cookie = cookie;
    expect(await again.status()).toBe(401);
    const stored = await one.rows<{ failures: number }>('SELECT failures FROM operator_sign_in_failure');
    expect(stored).toEqual([{ failures: 5 }]);
  });
});

describeOnAnyDatabase("[B.operator] the throttles of the operator's page", (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { environment: OPERATOR_ENVIRONMENT, clock });

  beforeAll(async () => {
    await createOperator(service, 'ada@example.com');
  });
  it('let an address try thirty times a minute, over all accounts', async () => {
    const browser = new OperatorBrowser(service, '198.51.100.20');
    // Refused for its form, behind the throttle: no password is checked.
    for (let attempt = 0; attempt < 30; attempt++)
      expect((await browser.send('POST', 'session', { email: 'ada@example.com' })).status).toBe(400);
    const refused = await browser.signIn('ada@example.com');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await errorOf(refused)).toEqual([429, 'too_many_requests']);
    expect((await new OperatorBrowser(service, '198.51.100.21').signIn('ada@example.com')).status).toBe(201);
  });

  it('count requests with invented cookies by address', async () => {
    const first = await knock(service);
    expect([first.status, first.headers.get('ratelimit-limit')]).toEqual([401, '1200']);
    expect(first.headers.get('ratelimit-remaining')).toBe('1199');
    expect((await knock(service)).headers.get('ratelimit-remaining')).toBe('1198');
    expect((await knock(service, '192.0.2.2')).headers.get('ratelimit-remaining')).toBe('1199');
  });

  it('let an operator call six hundred times a minute, from wherever', async () => {
    const browsers = [
      await signedIn(service, 'ada@example.com', '198.51.100.22'),
      await signedIn(service, 'ada@example.com', '198.51.100.23'),
    ];
    for (let call = 0; call < 600; call++)
      expect((await browsers[call % 2]?.get('reasons'))?.status).toBe(200);
    for (const browser of browsers)
      expect(await errorOf(await browser.get('reasons'))).toEqual([429, 'too_many_requests']);
  });
});

describeOnAnyDatabase('[D105] an instance without SVC_ADMIN_ENABLED', (database) => {
  const service = TestService.forBlock(database);

  it("has nothing of the operator's page", async () => {
    const unknown = await service.fetch('/rest/nothing-of-that-name');
    for (const path of ['/rest/admin/session', '/rest/admin/overview']) {
      const answer = await service.fetch(path);
      expect([answer.status, await answer.text()]).toEqual([404, await unknown.clone().text()]);
    }
    expect(service.routeTree).not.toContain('admin');
  });
});

describeOnPostgresql('invented cookies while sessions of operators are locked', (database) => {
  // Long enough that everything here happens meanwhile, on a busy machine too.
  const environment = { ...OPERATOR_ENVIRONMENT, SVC_DATABASE_WAIT_MS: '5000' };
  const service = TestService.forBlock(database, { environment, trustedKeys: [partner.staticEntry()] });
  let holder: Client;

  beforeAll(async () => {
    if (database.settings.kind !== 'postgresql') throw new Error('tables are locked on PostgreSQL only');
    holder = new Client({ connectionString: database.settings.url });
    await holder.connect();
  });
  afterAll(() => holder?.end());

  const waiting = async () => {
    // Not by the holder: within a transaction it is told of the others once.
    const [row] = await service.rows<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%operator_session%'`,
    );
    return row?.count ?? 0;
  };

  it('[D49] are answered 503, and neither logins nor followers wait for them', async () => {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE operator_session');
    let answered = 0;
    const knocks = Array.from({ length: KNOCKS }, () => knock(service).finally(() => (answered += 1)));
    await until('they wait', PATIENCE_MS, async () => (await waiting()) > 0);
    await service.part(Database).query('SELECT 1');
    const subject_token = partner.sign(partner.claims({ sub: 'kim' }));
    const exchanged = await service.exchange({ subject_token });
    expect([exchanged.status, answered]).toEqual([200, 0]);
    for (const answer of await Promise.all(knocks)) {
      expect(await errorOf(answer)).toEqual([503, 'temporarily_unavailable']);
      expect(answer.headers.get('retry-after')).not.toBeNull();
    }
    await holder.query('ROLLBACK');
    expect((await knock(service)).status).toBe(401);
  });
});
