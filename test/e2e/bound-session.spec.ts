// Sessions that are bound to a key of the page (RFC 9449): how a login opens and renews them, and what a thief gets.
import { createHash } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { jsonOf } from '../support/answers.js';
import { eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import type { ProofOptions } from '../support/dpop-client.js';
import { DpopClient, sha256 } from '../support/dpop-client.js';
import { linkedUser } from '../support/local-users.js';
import { meStatus } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import type { Fields } from '../support/test-service.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const EMBED = '/rest/auth/embed';
const ME = '/rest/me';
const LOGOUT = '/rest/auth/logout';
const HOST = 'https://product.example';
const OTHER_HOST = 'https://other-product.example';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const tokenOf = (sub: string, claims = {}) => partner.sign(partner.claims({ sub, ...claims }));

interface Opened {
  readonly session_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly expires_at: string;
  readonly user: { readonly id: string };
}

/** The page in the frame: its key, and its session once it has one. */
class Page {
  readonly key = new DpopClient();
  session: Opened | undefined;

  constructor(
    readonly service: TestService,
    readonly hostOrigin = HOST,
  ) {}

  get token(): string {
    return this.session?.session_token ?? '';
  }

  /** @param headers in the place of what the page sends; undefined leaves one out */
  post(fields: Fields, headers: Record<string, string | undefined> = {}): Promise<Response> {
    const sent = { origin: BASE_URL, dpop: this.loginProof(), ...headers };
    const form = { answer: 'session', hostOrigin: this.hostOrigin, ...fields };
    return this.service.embed(form, JSON.parse(JSON.stringify(sent)));
  }

  loginProof({ claims = {}, ...options }: ProofOptions = {}): string {
    return this.key.proof({ ...options, claims: { htu: BASE_URL + EMBED, ...claims } });
  }

  renew(token: string, fields: Fields = {}): Promise<Response> {
    return this.post({ token, ...fields }, this.renewing());
  }

  /** The headers of a renewal. */
  renewing(key = this.key): Record<string, string> {
    const claims = { htm: 'POST', htu: BASE_URL + EMBED, ath: sha256(this.token) };
    return { authorization: `DPoP ${this.token}`, dpop: key.proof({ claims }) };
  }

  async signIn(sub = 'ada'): Promise<this> {
    const answer = await this.post({ token: tokenOf(sub) });
    expect(answer.status).toBe(200);
    this.session = (await answer.json()) as Opened;
    return this;
  }

  call(path = ME, method = 'GET', options: ProofOptions = {}): Promise<Response> {
    const [address = ''] = path.split('?', 1);
    const claims = { htm: method, ...options.claims };
    return this.service.fetch(path, {
      method,
      headers: this.key.headersFor(this.token, address, { ...options, claims }),
    });
  }

  async status(): Promise<number> {
    return (await this.call()).status;
  }
}

const wordOf = async (answer: Response) => [answer.status, (await jsonOf(answer))['error']];

describeOnEachDatabase('[D25] a bound session', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });

  it('[D25] is opened by a post of the page with a proof, and sets no cookie', async () => {
    // The first time the user is made, in a transaction; afterwards nothing is.
    for (let times = 0; times < 2; times += 1) {
      const page = new Page(service);
      const answer = await page.post({ token: tokenOf('ada') });
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const session = (await answer.json()) as Opened;
      const user = await linkedUser(service, partner.issuer, 'ada');
      expect(session).toEqual({
        session_token: expect.stringMatching(/^svs_[\w-]{43}$/),
        token_type: 'DPoP',
        expires_in: 3600,
        expires_at: expect.any(String),
        user: { id: user?.id },
      });
      page.session = session;
      const me = await page.call();
      expect([me.status, me.headers.get('set-cookie')]).toEqual([200, null]);
      expect(await me.json()).toMatchObject({
        authentication: 'session',
        expiresAt: session.expires_at,
        hostOrigin: HOST,
      });
      expect((await page.call('/api/v1/workflows')).status).toBe(200);
      const idHash = createHash('sha256').update(session.session_token).digest();
      const rows = await service.rows('SELECT * FROM token_exchange_session WHERE id_hash = $1', [idHash]);
      expect(rows).toMatchObject([{ key_thumbprint: page.key.thumbprint, login_origin: HOST }]);
      const [event] = (await eventsOf(service, answer)).slice(-1);
      expect(event).toMatchObject({
        name: 'svc.audit.token-exchange.embed-login',
        payload: { sessionFamilyId: rows[0]?.['family_id'] },
      });
    }
  });

  it('[D25] is never accepted from a cookie, nor the session of a cookie from the header', async () => {
    const page = await new Page(service).signIn();
    const secret = page.token.slice('svs_'.length);
    for (const value of [page.token, secret])
      expect(await meStatus(service, `__Host-svc-session=${value}`)).toBe(401);
    const cookie = await service.sessionCookie(tokenOf('ada'));
    const other = new Page(service);
    for (const prefix of ['', 'svs_']) {
      const session_token = prefix + cookie.slice(cookie.indexOf('=') + 1);
      other.session = { ...page.session!, session_token };
      expect(await other.status()).toBe(401);
    }
    expect([await page.status(), await meStatus(service, cookie)]).toEqual([200, 200]);
  });

  it('[D25] is opened without a look at cookies, so the session of a cookie continues', async () => {
    const cookie = await service.sessionCookie(tokenOf('cookie-user'));
    const page = new Page(service);
    expect((await page.post({ token: tokenOf('ada') }, { cookie })).status).toBe(200);
    expect(await meStatus(service, cookie)).toBe(200);
  });

  it('[D28] sign-out everywhere ends the bound sessions of this user from this host origin alone', async () => {
    const open = (sub: string, origin?: string) => new Page(service, origin).signIn(sub);
    const pages = [await open('eve'), await open('eve'), await open('eve', OTHER_HOST), await open('bob')];
    const cookie = await service.sessionCookie(tokenOf('eve'));
    const [first] = pages;
    const refused = await first!.call(`${LOGOUT}?everywhere=yes`, 'POST');
    expect(await wordOf(refused)).toEqual([400, 'bad_request']);
    const answer = await first!.call(`${LOGOUT}?everywhere=true`, 'POST');
    expect(answer.status).toBe(204);
    expect(await Promise.all(pages.map((page) => page.status()))).toEqual([401, 401, 200, 200]);
    expect(await meStatus(service, cookie)).toBe(200);
    const ended = (await eventsOf(service)).filter(({ name }) => name === 'svc.audit.session.ended');
    expect(ended.at(-1)).toMatchObject({ payload: { sessions: 2, cause: 'signed-out' } });
  });

  describe('[D26] a renewal', () => {
    it('[D26] extends the same row: session token and key stay', async () => {
      const page = await new Page(service).signIn('renewing');
      const before = await census(service);
      const answer = await page.renew(tokenOf('renewing'), { userId: page.session?.user.id });
      const renewed = (await answer.json()) as Opened;
      expect([answer.status, renewed.session_token]).toEqual([200, page.token]);
      expect(Date.parse(renewed.expires_at)).toBeGreaterThan(Date.parse(page.session?.expires_at ?? ''));
      expect((await census(service)).sessions).toBe(before.sessions);
      expect(await jsonOf(await page.call())).toMatchObject({ expiresAt: renewed.expires_at });
    });

    it('[D26] twice at once renews the one session twice', async () => {
      const page = await new Page(service).signIn('twice');
      const before = await census(service);
      const answers = await Promise.all([page.renew(tokenOf('twice')), page.renew(tokenOf('twice'))]);
      const tokens = await Promise.all(answers.map(async (one) => (await jsonOf(one))['session_token']));
      expect(tokens).toEqual([page.token, page.token]);
      expect([(await census(service)).sessions, await page.status()]).toEqual([before.sessions, 200]);
    });

    it.each([true, false])(
      "[D51] with another user's token changes nothing (userId: %s)",
      async (isNamed) => {
        const page = await new Page(service).signIn('ada');
        const userId = isNamed ? page.session?.user.id : undefined;
        const answer = await page.renew(tokenOf('bob'), { userId });
        expect(await wordOf(answer)).toEqual([401, 'session_of_another_user']);
        expect(await jsonOf(await page.call())).toMatchObject({
          user: { id: page.session?.user.id },
          expiresAt: page.session?.expires_at,
        });
      },
    );

    it('[D28] of a session that was signed out opens none', async () => {
      const page = await new Page(service).signIn('leaving');
      await page.call(LOGOUT, 'POST');
      const before = await census(service);
      expect(await wordOf(await page.renew(tokenOf('leaving')))).toEqual([401, 'session_ended']);
      expect([(await census(service)).sessions, await page.status()]).toEqual([before.sessions, 401]);
    });

    it('[D25] by a thief of the session token is refused, and the session continues', async () => {
      const page = await new Page(service).signIn('ada');
      const thief = new DpopClient();
      const answer = await page.post({ token: tokenOf('ada') }, page.renewing(thief));
      expect(await wordOf(answer)).toEqual([401, 'session_ended']);
      expect(await jsonOf(await page.call())).toMatchObject({ expiresAt: page.session?.expires_at });
    });

    it('[D141] needs a proof about the session token, which is not used up without one', async () => {
      const page = await new Page(service).signIn('ada');
      const token = tokenOf('ada');
      const headers = { authorization: `DPoP ${page.token}` };
      expect(await wordOf(await page.post({ token }, headers))).toEqual([400, 'invalid_dpop_proof']);
      expect((await page.renew(token)).status).toBe(200);
    });

    it.each(['Bearer svs_x', 'Basic eDp5', 'DPoP'])(
      '[D16] with Authorization: %s is refused',
      async (value) => {
        const page = await new Page(service).signIn('ada');
        const answer = await page.post({ token: tokenOf('ada') }, { authorization: value });
        expect(await wordOf(answer)).toEqual([400, 'field_invalid']);
      },
    );
  });
});

describeOnAnyDatabase('[D25] who may open and use a bound session', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  const page = () => new Page(service);

  it('[P.origins] only the page of the instance gets one, even if the entry lists no origins', async () => {
    const answer = await page().post({ token: tokenOf('ada') }, { origin: HOST });
    expect(await wordOf(answer)).toEqual([401, 'origin_not_allowed']);
  });

  it.each([undefined, '', 'null', 'product.example', `${HOST}/path`, `${HOST}, ${OTHER_HOST}`])(
    '[D16] hostOrigin %j is refused, and the token is not used up',
    async (hostOrigin) => {
      const token = tokenOf('ada');
      const refused = await page().post({ token, hostOrigin });
      expect(await wordOf(refused)).toEqual([400, 'field_invalid']);
      expect((await page().post({ token })).status).toBe(200);
    },
  );

  it('[D16] is not opened by a GET', async () => {
    const query = new URLSearchParams({ token: tokenOf('ada'), answer: 'session', hostOrigin: HOST });
    const answer = await service.fetch(`${EMBED}?${query.toString()}`);
    expect(await wordOf(answer)).toEqual([400, 'field_invalid']);
  });

  it.each<[string, (one: Page) => string | undefined]>([
    ['no proof', () => undefined],
    ['a proof by another key', (one) => one.loginProof({ signedBy: new DpopClient() })],
  ])('[D141] %s: 400 with the time, and the token is not used up', async (_, proofOf) => {
    const one = page();
    const token = tokenOf('ada');
    const answer = await one.post({ token }, { dpop: proofOf(one) });
    const body = await jsonOf(answer);
    expect([answer.status, body['error']]).toEqual([400, 'invalid_dpop_proof']);
    expect(Math.abs(Number(body['serverTime']) - Date.now() / 1000)).toBeLessThan(60);
    expect((await one.post({ token })).status).toBe(200);
  });

  it('[D142] a stolen proof of a login opens no second session', async () => {
    const one = page();
    const dpop = one.loginProof();
    expect((await one.post({ token: tokenOf('ada') }, { dpop })).status).toBe(200);
    const again = await one.post({ token: tokenOf('ada') }, { dpop });
    expect(await wordOf(again)).toEqual([400, 'invalid_dpop_proof']);
  });

  it('[D127] a login token with cnf.jkt is accepted with a proof of its key, and is useless to a thief', async () => {
    const [one, thief] = [page(), page()];
    const token = tokenOf('ada', { cnf: { jkt: one.key.thumbprint } });
    expect(await wordOf(await thief.post({ token }))).toEqual([400, 'invalid_dpop_proof']);
    expect((await one.post({ token })).status).toBe(200);
  });

  describe('at the API', () => {
    it('[D25] a stolen session token as Bearer: 401, and an event', async () => {
      const { token } = await page().signIn();
      const answer = await service.fetch(ME, { headers: { authorization: `Bearer ${token}` } });
      expect(await wordOf(answer)).toEqual([401, 'invalid_token']);
      expect(await eventsOf(service, answer)).toMatchObject([
        { name: 'svc.audit.api.refused', payload: { reason: 'dpop_proof_missing' } },
      ]);
    });

    it('[D142] a proof of a writing call is accepted once, and a proof of a reading call is not remembered', async () => {
      const one = await page().signIn();
      const reading = one.key.headersFor(one.token, ME);
      for (let times = 0; times < 2; times += 1)
        expect((await service.fetch(ME, { headers: reading })).status).toBe(200);
      const other = await page().signIn();
      const writing = one.key.headersFor(one.token, LOGOUT, { claims: { htm: 'POST' } });
      expect((await service.fetch(LOGOUT, { method: 'POST', headers: writing })).status).toBe(204);
      expect(await other.status()).toBe(200);
      const path = '/api/v1/workflows';
      const stolen = other.key.headersFor(other.token, path, { claims: { htm: 'POST' } });
      const post = () => service.fetch(path, { method: 'POST', headers: stolen });
      expect((await post()).status).not.toBe(401);
      expect(await wordOf(await post())).toEqual([401, 'invalid_dpop_proof']);
    });

    it('[D79] a session that has ended, or never was, is no event', async () => {
      const one = await page().signIn();
      await one.call(LOGOUT, 'POST');
      for (const token of [one.token, `svs_${'x'.repeat(43)}`]) {
        const answer = await service.fetch(ME, { headers: one.key.headersFor(token, ME) });
        expect(await wordOf(answer)).toEqual([401, 'invalid_token']);
        expect(await eventsOf(service, answer)).toEqual([]);
      }
    });
  });
});

describeOnAnyDatabase('[D143] bound sessions if nonces are required', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys,
    environment: { SVC_DPOP_NONCE: 'true' },
  });

  it('[D143] the page repeats login and call with the nonce, and the token is not used up', async () => {
    const page = new Page(service);
    const token = tokenOf('ada');
    const refused = await page.post({ token });
    const nonce = refused.headers.get('dpop-nonce') ?? '';
    const body = await jsonOf(refused);
    expect([refused.status, body]).toEqual([
      400,
      { error: 'use_dpop_nonce', message: expect.any(String), serverTime: expect.any(Number) },
    ]);
    const missing = await page.post({ token }, { dpop: undefined });
    expect([missing.status, missing.headers.get('dpop-nonce')]).toEqual([400, nonce]);
    const answer = await page.post({ token }, { dpop: page.loginProof({ claims: { nonce } }) });
    expect([answer.status, answer.headers.get('dpop-nonce')]).toEqual([200, nonce]);
    page.session = (await answer.json()) as Opened;
    const call = await page.call();
    expect([await wordOf(call), call.headers.get('dpop-nonce')]).toEqual([[401, 'use_dpop_nonce'], nonce]);
    expect((await page.call(ME, 'GET', { claims: { nonce } })).status).toBe(200);
  });
});

describeOnAnyDatabase('[D75] the repetition of a login', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys,
    environment: { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '2' },
  });

  it('[D75] is not counted by the address, once for each token', async () => {
    const page = new Page(service);
    const token = tokenOf('ada');
    const wrong = () => page.post({ token }, { dpop: page.key.proof() });
    const statuses = [];
    for (const send of [wrong, wrong, wrong, wrong]) statuses.push((await send()).status);
    expect(statuses).toEqual([400, 400, 400, 429]);
  });
});

describeOnEachDatabase('bound sessions at the limit of a user', (database) => {
  it('the least recently used end: many reloads never end a frame that is looked at', async () => {
    const clock = new TestClock();
    const environment = { SVC_EMBED_MAX_SESSIONS_PER_USER: '3' };
    await withService(database, { trustedKeys, environment, clock }, async (service) => {
      const now = () => Math.floor(clock.nowMs() / 1000);
      const at = () => ({ claims: { iat: now() } });
      const signIn = async () => {
        const page = new Page(service);
        const token = tokenOf('ada', { iat: now(), exp: now() + 60 });
        const answer = await page.post({ token }, { dpop: page.loginProof(at()) });
        page.session = (await answer.json()) as Opened;
        return page;
      };
      const looked = await signIn();
      const reloads = [];
      for (let times = 0; times < 4; times += 1) {
        reloads.push(await signIn());
        clock.advance(20);
        expect((await looked.call(ME, 'GET', at())).status).toBe(200);
      }
      await service.purge('session-purge');
      const statuses = [];
      for (const page of [looked, ...reloads]) statuses.push((await page.call(ME, 'GET', at())).status);
      expect(statuses).toEqual([200, 401, 401, 200, 200]);
    });
  });
});
