// The client for partners' backends against the real service: exchanges, caching, retries, keys, the login form.
import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { inspect } from 'node:util';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type {
  KeyInput,
  Partner,
  PartnerError,
  PartnerOptions,
  SigningAlgorithm,
} from '../../packages/partner/src/index.js';
import { createPartner } from '../../packages/partner/src/index.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { LOGOUT_PATH } from '../support/logout-tokens.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { pause } from '../support/until.js';
import { withService, withServiceApart } from '../support/with-service.js';
import { WaitingClock } from './support/partner-clock.js';
import { SentForms } from './support/sent-forms.js';

const ISSUER = 'https://partner.example';
const KEY = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const ADA = { sub: 'ada', email: 'ada@partner.example', email_verified: true };
const CY = { sub: 'cy', email: 'cy@partner.example', email_verified: true };
const BOB = { sub: 'bob', email: 'bob@partner.example', email_verified: true };

/** The entry with which an instance trusts the key that signs. */
async function entryOf(partner: Partner, more: object = {}): Promise<object> {
  const [jwk] = (await partner.jwks()).keys;
  return {
    type: 'static',
    kid: jwk?.kid,
    algorithms: [jwk?.alg],
    key: await partner.publicKeyPem(),
    issuer: ISSUER,
    expectedAudience: BASE_URL,
    ...more,
  };
}

/** A partner that the service's address is told later: keys do not depend on it. */
function partnerWith(key: KeyInput, service?: TestService, more: Partial<PartnerOptions> = {}): Partner {
  const baseUrl = service?.address ?? 'http://127.0.0.1:1';
  return createPartner({ issuer: ISSUER, baseUrl, audience: BASE_URL, key, ...more });
}

async function me(service: TestService, accessToken: string): Promise<Record<string, unknown>> {
  const answer = await service.fetch('/rest/me', { headers: { authorization: `Bearer ${accessToken}` } });
  return { status: answer.status, ...((await answer.json()) as object) };
}

describeOnAnyDatabase("[D131] the partner client's sign-out", (database) => {
  it("ends everything of the user and nothing of others, forgets the user's tokens, and lets the user in again", async () => {
    await withService(database, { trustedKeys: [await entryOf(partnerWith(KEY))] }, async (service) => {
      const partner = partnerWith(KEY, service);
      const [ada, acted, bob] = [
        await partner.exchange({ subject: ADA }),
        await partner.exchange({ subject: BOB, actor: ADA }),
        await partner.exchange({ subject: BOB }),
      ];
      const { fields } = await partner.embedForm({ subject: ADA });
      const cookie = await service.sessionCookie(fields.token);
      await partner.signOut(ADA.sub);
      const statuses = [ada, acted, bob].map(
        async ({ accessToken }) => (await me(service, accessToken))['status'],
      );
      expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
      expect((await service.fetch('/rest/me', { headers: { cookie } })).status).toBe(401);
      const again = await partner.exchange({ subject: ADA });
      expect((await me(service, again.accessToken))['status']).toBe(200);
      expect((await partner.exchange({ subject: BOB })).accessToken).toBe(bob.accessToken);
    });
  });

  it('forgets the token of a running exchange, and does not delay callers', async () => {
    const [arrived, late] = [new AbortController(), new AbortController()];
    const over = ({ signal }: AbortController) =>
      new Promise((resolve) => signal.addEventListener('abort', resolve));
    const [arrival, release] = [over(arrived), over(late)];
    const sent = new SentForms();
    const slowly: typeof fetch = async (url, init) => {
      const isFirst = sent.count === 0;
      const answer = await sent.fetch(url, init);
      if (!isFirst) return answer;
      arrived.abort();
      await release;
      return answer;
    };
    await withService(database, { trustedKeys: [await entryOf(partnerWith(KEY))] }, async (service) => {
      const partner = partnerWith(KEY, service, { fetch: slowly });
      const under = partner.exchange({ subject: ADA });
      await arrival;
      await partner.signOut(ADA.sub);
      const next = await partner.exchange({ subject: ADA });
      late.abort();
      const ended = await under;
      const kept = await partner.exchange({ subject: ADA });
      const statuses = [ended, next, kept].map(
        async ({ accessToken }) => (await me(service, accessToken))['status'],
      );
      expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
    });
  });

  it('forgets tokens even if the answer to a sign-out is lost', async () => {
    const lossy: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init);
      if (new Request(url).url.endsWith(LOGOUT_PATH)) throw new TypeError('the connection broke');
      return answer;
    };
    await withService(database, { trustedKeys: [await entryOf(partnerWith(KEY))] }, async (service) => {
      const partner = partnerWith(KEY, service, { fetch: lossy });
      const { accessToken } = await partner.exchange({ subject: ADA });
      await expect(partner.signOut(ADA.sub)).rejects.toMatchObject({ name: 'PartnerError' });
      // A token of the same second counts as made before.
      await pause(1_000);
      expect((await partner.exchange({ subject: ADA })).accessToken).not.toBe(accessToken);
    });
  });

  it('reports a refusal, and does not retry it', async () => {
    const entry = await entryOf(partnerWith(KEY), { flows: ['exchange'] });
    await withService(database, { trustedKeys: [entry] }, async (service) => {
      await expect(partnerWith(KEY, service).signOut('ada')).rejects.toMatchObject({
        code: 'invalid_request',
        status: 400,
        tries: 1,
      });
      await expect(partnerWith(KEY, service).signOut('')).rejects.toMatchObject({ code: 'invalid_option' });
    });
  });
});

describeOnAnyDatabase('the partner client', (database) => {
  let service: TestService;
  const sent = () => new SentForms();

  beforeAll(async () => {
    service = await TestService.start(database, { trustedKeys: [await entryOf(partnerWith(KEY))] });
  });
  afterAll(() => service?.stop());

  describe('an exchange', () => {
    it('returns a token by which the API knows the user', async () => {
      const token = await partnerWith(KEY, service).exchange({ subject: ADA });
      expect(await me(service, token.accessToken)).toMatchObject({
        status: 200,
        user: { email: ADA.email },
        onBehalfOf: null,
        scopes: null,
      });
      expect(token.scope).toBeUndefined();
      const lifeSeconds = (token.expiresAt.getTime() - Date.now()) / 1000;
      expect(lifeSeconds).toBeLessThanOrEqual(600);
      expect(lifeSeconds).toBeGreaterThan(60);
    });

    it('lets an actor act for the subject', async () => {
      const { accessToken } = await partnerWith(KEY, service).exchange({ subject: ADA, actor: BOB });
      expect(await me(service, accessToken)).toMatchObject({
        user: { email: BOB.email },
        onBehalfOf: { email: ADA.email },
      });
    });

    it('accepts a sub alone for a known user, and passes on the requested values', async () => {
      const seen = sent();
      const partner = partnerWith(KEY, service, { fetch: seen.fetch });
      const wish = { scope: ['workflow:read', 'user:read'], resource: 'https://api.example/' };
      const { accessToken } = await partner.exchange({ subject: ADA.sub, ...wish });
      expect(decodeJwt(accessToken)).toMatchObject({
        requested_scope: 'workflow:read user:read',
        requested_resource: 'https://api.example/',
      });
      expect(seen.claims()).toEqual([
        {
          sub: ADA.sub,
          iss: ISSUER,
          aud: BASE_URL,
          jti: expect.any(String),
          iat: expect.any(Number),
          exp: expect.any(Number),
        },
      ]);
    });

    it('requests the configured token lifetime', async () => {
      const seen = sent();
      const partner = partnerWith(KEY, service, { fetch: seen.fetch, tokenLifetimeSeconds: 60 });
      const { accessToken } = await partner.exchange({ subject: ADA });
      const [claims = {}] = seen.claims();
      expect(Number(claims.exp) - Number(claims.iat)).toBe(65);
      const issued = decodeJwt(accessToken);
      expect(Number(issued.exp) - Number(issued.iat)).toBeLessThanOrEqual(60);
    });
  });

  describe('the cache', () => {
    it('shares one exchange among a hundred parallel calls, in any order of their options', async () => {
      const seen = sent();
      const partner = partnerWith(KEY, service, { fetch: seen.fetch });
      const calls = Array.from({ length: 100 }, (_, index) =>
        partner.exchange({
          subject: index % 2 === 0 ? ADA : { email_verified: true, email: ADA.email, sub: ADA.sub },
        }),
      );
      const tokens = new Set((await Promise.all(calls)).map(({ accessToken }) => accessToken));
      expect([tokens.size, seen.count]).toEqual([1, 1]);
    });

    it('separates subject, actor, scope and resource', async () => {
      const seen = sent();
      const partner = partnerWith(KEY, service, { fetch: seen.fetch });
      const wishes = [
        { subject: ADA },
        { subject: BOB },
        { subject: ADA, actor: BOB },
        { subject: ADA, scope: 'workflow:read' },
        { subject: ADA, resource: 'https://api.example/' },
      ];
      const all = await Promise.all([...wishes, ...wishes].map((wish) => partner.exchange(wish)));
      expect(new Set(all.map(({ accessToken }) => accessToken)).size).toBe(wishes.length);
      expect(seen.count).toBe(wishes.length);
      expect(new Set(seen.jtis()).size).toBe(wishes.length + 1);
    });

    it('returns a token until shortly before it expires', async () => {
      const seen = sent();
      const clock = new WaitingClock();
      const partner = partnerWith(KEY, service, { fetch: seen.fetch, clock });
      const first = await partner.exchange({ subject: ADA });
      const lifeSeconds = (first.expiresAt.getTime() - clock.nowMs()) / 1000;
      clock.advance(lifeSeconds - 10.5);
      expect(await partner.exchange({ subject: ADA })).toBe(first);
      clock.advance(1);
      // The service's own clock has not moved.
      clock.setBack(lifeSeconds - 9.5);
      const second = await partner.exchange({ subject: ADA });
      expect(second.accessToken).not.toBe(first.accessToken);
      expect(seen.count).toBe(2);
    });

    it('returns a token no longer if a clock is set back', async () => {
      const seen = sent();
      const clock = new WaitingClock();
      const partner = partnerWith(KEY, service, { fetch: seen.fetch, clock });
      await partner.exchange({ subject: ADA });
      clock.advance(595);
      clock.setBack(595);
      await partner.exchange({ subject: ADA });
      expect(seen.count).toBe(2);
    });

    it('drops old tokens for new ones, and is disabled with size 0', async () => {
      const [two, none] = [sent(), sent()];
      const small = partnerWith(KEY, service, { fetch: two.fetch, cacheSize: 2 });
      for (const subject of [ADA, BOB, ADA]) await small.exchange({ subject });
      await small.exchange({ subject: { ...ADA, given_name: 'Ada' } });
      await small.exchange({ subject: ADA });
      expect(two.count).toBe(3);
      await small.exchange({ subject: BOB });
      expect(two.count).toBe(4);
      const without = partnerWith(KEY, service, { fetch: none.fetch, cacheSize: 0 });
      for (let call = 0; call < 2; call += 1) await without.exchange({ subject: ADA });
      expect(none.count).toBe(2);
    });

    it('skips a token that the API has refused', async () => {
      const partner = partnerWith(KEY, service);
      const { accessToken } = await partner.exchange({ subject: ADA });
      expect((await service.post('/rest/auth/oauth/revoke', { token: accessToken })).status).toBe(200);
      expect(await me(service, accessToken)).toMatchObject({ status: 401 });
      const anew = await partner.exchange({ subject: ADA, fresh: accessToken });
      expect(await me(service, anew.accessToken)).toMatchObject({ status: 200 });
      expect(await partner.exchange({ subject: ADA })).toBe(anew);
    });
  });

  describe('a refusal', () => {
    it('of an untrusted key is reported once, with a hint to its cause', async () => {
      const seen = sent();
      const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
      const failure = partnerWith(stranger, service, { fetch: seen.fetch }).exchange({ subject: ADA });
      await expect(failure).rejects.toMatchObject({
        name: 'PartnerError',
        code: 'invalid_grant',
        status: 400,
        requestId: expect.any(String),
        tries: 1,
        message: expect.stringMatching(
          /^The exchange failed: invalid_grant \(status 400\); Token exchange failed; request \S+; explain\(requestId\) says why, if your entry allows it$/,
        ),
      });
      const { requestId } = await failure.then(
        () => ({ requestId: 'none' }),
        (error: PartnerError) => error,
      );
      expect(service.log.filter((line) => line['requestId'] === requestId).length).toBeGreaterThan(0);
      expect(seen.count).toBe(1);
    });

    it('does not follow from a clock that is up to ten seconds ahead, in an exchange, a login and a sign-out', async () => {
      const clock = new WaitingClock(Date.now() + 8_500);
      const partner = partnerWith(KEY, service, { clock });
      const { accessToken } = await partner.exchange({ subject: CY });
      expect((await me(service, accessToken))['status']).toBe(200);
      const { fields } = await partner.embedForm({ subject: CY });
      expect((await service.embed(fields)).status).toBe(303);
      await partner.signOut(CY.sub);
      expect((await me(service, accessToken))['status']).toBe(401);
      expect(clock.waits.map((wait) => wait <= 1000)).toEqual([true]);
      const again = await partner.exchange({ subject: CY });
      expect((await me(service, again.accessToken))['status']).toBe(200);
    });
  });

  describe('keys', () => {
    const pem = (key: KeyObject, type: 'pkcs8' | 'sec1') => key.export({ type, format: 'pem' }).toString();
    const forms: [string, () => KeyInput | Promise<KeyInput>][] = [
      ['PEM (PKCS #8)', () => pem(KEY, 'pkcs8')],
      ['PEM (SEC 1)', () => pem(KEY, 'sec1')],
      [
        'PEM with the two characters \\n, as variables have it',
        () => pem(KEY, 'pkcs8').replaceAll('\n', '\\n'),
      ],
      ['PEM with \\r\\n, as bytes', () => Buffer.from(pem(KEY, 'sec1').replaceAll('\n', '\\r\\n'))],
      ['PEM as the bytes of its file', () => Buffer.from(pem(KEY, 'pkcs8'))],
      ['JWK', () => KEY.export({ format: 'jwk' })],
      ['KeyObject', () => KEY],
      [
        'CryptoKey that nobody can take out',
        () => {
          const der = KEY.export({ type: 'pkcs8', format: 'der' });
          const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
          return webcrypto.subtle.importKey('pkcs8', new Uint8Array(der), algorithm, false, ['sign']);
        },
      ],
    ];

    it.each(forms)('are accepted as %s', async (_, make) => {
      const partner = partnerWith(await make(), service);
      expect((await partner.jwks()).keys).toEqual((await partnerWith(KEY).jwks()).keys);
      await expect(partner.exchange({ subject: ADA })).resolves.toMatchObject({
        accessToken: expect.any(String),
      });
    });

    it('are published without private parts, under the kid in the tokens', async () => {
      const partner = partnerWith({ key: KEY, kid: 'first' });
      const { keys } = await partner.jwks();
      expect(keys).toEqual([
        {
          kty: 'EC',
          crv: 'P-256',
          x: expect.any(String),
          y: expect.any(String),
          kid: 'first',
          alg: 'ES256',
          use: 'sig',
        },
      ]);
      const { fields } = await partner.embedForm({ subject: ADA });
      expect(decodeProtectedHeader(fields.token)).toEqual({ alg: 'ES256', kid: 'first', typ: 'JWT' });
    });

    it('are not shown by inspecting a partner or an error', async () => {
      const secret = KEY.export({ format: 'jwk' }).d ?? 'none';
      const partner = partnerWith(KEY.export({ format: 'jwk' }), service);
      await partner.exchange({ subject: ADA });
      expect(inspect(partner, { depth: 9, showHidden: true })).not.toContain(secret);
      expect(JSON.stringify(partner)).toBe('{}');
      const broken = pem(KEY, 'pkcs8').replace('\nMI', '\nAA');
      const error = (() => {
        try {
          return partnerWith(broken);
        } catch (failure) {
          return failure;
        }
      })();
      expect(error).toMatchObject({ code: 'invalid_option' });
      expect(error).not.toHaveProperty('cause');
      expect(inspect(error, { depth: 9 })).not.toContain(broken.split('\n')[1]);
    });

    it('have one algorithm each, which the entry contains', async () => {
      const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
      const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
      const pairs: [SigningAlgorithm, KeyObject][] = [
        ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const).map(
          (alg): [SigningAlgorithm, KeyObject] => [alg, rsa],
        ),
        ['ES256', ec('prime256v1')],
        ['ES384', ec('secp384r1')],
        ['ES512', ec('secp521r1')],
        ['EdDSA', generateKeyPairSync('ed25519').privateKey],
      ];
      const keys = pairs.map(([alg, key]) => ({ alg, key, kid: `kid-${alg}` }));
      const entries = await Promise.all(keys.map((key) => entryOf(partnerWith(key))));
      await withServiceApart({ trustedKeys: entries }, async (other) => {
        for (const key of keys)
          await expect(partnerWith(key, other).exchange({ subject: ADA })).resolves.toBeDefined();
      });
      // Left to themselves the keys sign with the usual one of their type.
      for (const [alg, key] of pairs.filter(([name]) => !/^(RS[35]|PS)/.test(name)))
        expect((await partnerWith(key).jwks()).keys).toEqual([expect.objectContaining({ alg })]);
    });

    it('rotate: the next one is published before it signs, and the old one while its tokens are valid', async () => {
      const [former, next] = ['former', 'next'].map((kid) => ({
        key: generateKeyPairSync('ed25519').privateKey,
        kid,
      })) as [KeyInput, KeyInput];
      const before = partnerWith(former, undefined, { nextKey: next });
      const kids = async (partner: Partner) => (await partner.jwks()).keys.map(({ kid }) => kid);
      expect(await kids(before)).toEqual(['former', 'next']);
      const pems = [await before.publicKeyPem(), await before.publicKeyPem('next')];
      expect(new Set(pems).size).toBe(2);
      const after = partnerWith(next, undefined, { otherKeys: [former] });
      expect(await kids(after)).toEqual(['next', 'former']);
      const kidOf = async (partner: Partner) =>
        decodeProtectedHeader((await partner.embedForm({ subject: ADA })).fields.token).kid;
      expect([await kidOf(before), await kidOf(after)]).toEqual(['former', 'next']);
    });

    it('of another entry sign if their kid is given', async () => {
      const admin = { key: generateKeyPairSync('ed25519').privateKey, kid: 'admin' };
      const entries = [await entryOf(partnerWith(KEY)), await entryOf(partnerWith(admin))];
      const seen = sent();
      await withServiceApart({ trustedKeys: entries }, async (other) => {
        const partner = partnerWith(KEY, other, { otherKeys: [admin], fetch: seen.fetch });
        await partner.exchange({ subject: ADA, actor: BOB, actorKid: 'admin' });
        await partner.exchange({ subject: ADA, actor: BOB });
      });
      const kids = seen.forms.map((form) => decodeProtectedHeader(form.get('actor_token') ?? '').kid);
      expect(kids).toEqual(['admin', (await partnerWith(KEY).jwks()).keys[0]?.kid]);
    });
  });

  describe('the login form', () => {
    it('signs the user in when posted, with a token of at most 60 seconds', async () => {
      const partner = partnerWith(KEY, service, { tokenLifetimeSeconds: 600 });
      const form = await partner.embedForm({ subject: ADA, redirectTo: '/workflows' });
      expect(form).toMatchObject({ method: 'post', action: `${service.address}/rest/auth/embed` });
      const { iat, exp } = decodeJwt(form.fields.token);
      expect(Number(exp) - Number(iat)).toBe(60);
      const answer = await service.embed(form.fields);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/workflows']);
      const next = await partner.embedForm({ subject: ADA });
      expect(next.fields.redirectTo).toBe('/');
      expect(next.fields.token).not.toBe(form.fields.token);
    });

    it('is HTML with everything escaped', async () => {
      const form = await partnerWith(KEY, service).embedForm({ subject: ADA, redirectTo: `/?a="'&<b>` });
      const html = form.toHtml({ id: 'login', target: 'frame">' });
      expect(html).toBe(
        `<form id="login" method="post" action="${service.address}/rest/auth/embed" target="frame&quot;&gt;">` +
          `<input type="hidden" name="token" value="${form.fields.token}">` +
          '<input type="hidden" name="redirectTo" value="/?a=&quot;&#39;&amp;&lt;b&gt;"></form>',
      );
      expect(form.toHtml()).toMatch(/^<form method="post" action="[^"]*"><input/);
    });
  });

  it('waits as long as a 429 says, and retries with new tokens', async () => {
    const clock = new WaitingClock();
    const seen = sent();
    const settings = {
      trustedKeys: [await entryOf(partnerWith(KEY))],
      environment: { SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1' },
      clock,
    };
    await withServiceApart(settings, async (limited) => {
      const options = { fetch: seen.fetch, clock, cacheSize: 0, timeoutSeconds: 120 };
      const partner = partnerWith(KEY, limited, options);
      await partner.exchange({ subject: ADA });
      await partner.exchange({ subject: ADA, actor: BOB });
      expect(clock.waits).toHaveLength(1);
      expect(clock.waits[0]).toBeGreaterThan(1000);
      expect(clock.waits[0]).toBeLessThanOrEqual(66_000);
      expect(seen.count).toBe(3);
      // One token of the first exchange, two of each try of the second.
      expect(new Set(seen.jtis()).size).toBe(5);
      const hasty = partnerWith(KEY, limited, { ...options, timeoutSeconds: 1 });
      await expect(hasty.exchange({ subject: ADA })).rejects.toMatchObject({
        code: 'too_many_requests',
        status: 429,
        retryAfterSeconds: expect.any(Number),
        tries: 1,
      });
      expect(clock.waits).toHaveLength(1);
    });
  });
});
