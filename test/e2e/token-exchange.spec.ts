// Token exchange over HTTP: its form, its responses, and the use of the issued access token.
import type { JSONWebKeySet, JWTPayload } from 'jose';
import { createLocalJWKSet, decodeJwt, jwtVerify, SignJWT } from 'jose';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { SigningKeyService } from '../../src/token-exchange/tokens/signing-key.service.js';
import { eventsOf, requestIdOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { INVALID_GRANT } from '../support/entry-paths.js';
import { createUser, createWorkflow, linkedUser } from '../support/local-users.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry({ allowedRoles: ['global:member'] })];

let subjects = 0;
/** A sub that no other test uses. */
const newSub = () => `client-${++subjects}`;

async function read(answer: Response): Promise<{ status: number; body: Record<string, unknown> }> {
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describeOnAnyDatabase('token exchange', (database) => {
  const clock = new TestClock(Math.floor(Date.now() / 1000) * 1000);
  const service = TestService.forBlock(database, { trustedKeys, clock });

  const nowSeconds = () => clock.nowSeconds();
  const token = (claims: Members = {}) => partner.sign(partner.claims({ iat: nowSeconds(), ...claims }));
  const exchange = (fields: Record<string, string | undefined> = {}) =>
    service.exchange({ subject_token: token(), ...fields });
  const claimsOf = async (answer: Response) =>
    decodeJwt(((await answer.json()) as { access_token: string }).access_token);
  const status = async (path: string, accessToken: string) =>
    (await service.fetch(path, bearer(accessToken))).status;
  const namesOfWorkflows = async (accessToken: string) => {
    const answer = await service.fetch('/api/v1/workflows?limit=250', bearer(accessToken));
    const { data } = (await answer.json()) as { data: { name: string }[] };
    return data.map(({ name }) => name);
  };

  describe('the request', () => {
    it('[4.2][2.4.1] the response has exactly four properties', async () => {
      expect(await read(await exchange())).toEqual({
        status: 200,
        body: {
          access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
          token_type: 'Bearer',
          expires_in: expect.any(Number),
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        },
      });
    });

    it('[7.4] another grant_type is unsupported, and the token stays unused', async () => {
      const subjectToken = token();
      const before = await census(service);
      const fields = { grant_type: 'authorization_code', subject_token: subjectToken };
      const refused = await read(await exchange(fields));
      expect(refused).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
      expect(await census(service)).toEqual(before);
      expect((await exchange({ subject_token: subjectToken })).status).toBe(200);
    });

    it.each([
      ['[4.2.subject_token] no subject_token', { subject_token: undefined }, /subject_token/],
      ['[D42] NUL in a field', { scope: 'a\0b' }, /scope/],
    ])(
      '%s is refused with the name of the field',
      async (_, fields: Record<string, string | undefined>, text) => {
        const before = await census(service);
        const refused = await read(await exchange(fields));
        expect(refused).toEqual({
          status: 400,
          body: { error: 'invalid_request', error_description: expect.stringMatching(text) },
        });
        expect(await census(service)).toEqual(before);
      },
    );

    it('[D55][K32] the access token has no scope or resource that was only requested', async () => {
      const fields = { scope: 'admin:everything', resource: 'https://elsewhere.example', audience: 'other' };
      const { body } = await read(await exchange(fields));
      const claims = decodeJwt(String(body['access_token']));
      expect(Object.keys(claims)).not.toContain('scope');
      expect(Object.keys(claims)).not.toContain('resource');
      expect(claims).toMatchObject({ aud: BASE_URL, requested_scope: 'admin:everything' });
      expect(body).not.toHaveProperty('scope');
    });

    it('[2.4][D77] scope and resource in the audit event and the log have no query and no invisible characters', async () => {
      const answer = await exchange({
        scope: 'a\u0085\u009b\u2028\u202eb',
        resource: 'https://me:secret@a.example/x?key=secret#f https://b.example/\u2066',
        subject_token: token({ act: { sub: 'robot\u202e' } }),
      });
      const recorded = {
        scope: 'a\\u{85}\\u{9b}\\u{2028}\\u{202e}b',
        resource: ['https://a.example/x', 'https://b.example/\\u{2066}'],
        priorActors: [{ iss: 'https://partner.example', sub: 'robot\\u{202e}' }],
      };
      expect((await eventsOf(service, answer)).at(-1)).toMatchObject({ payload: recorded });
      const requestId = requestIdOf(answer);
      const lines = service.log.filter((line) => line['requestId'] === requestId);
      expect(lines).toContainEqual(expect.objectContaining({ payload: expect.objectContaining(recorded) }));
      expect(JSON.stringify(lines)).not.toMatch(/secret|[\u0085\u009b\u2028\u202e\u2066]/);
    });

    it('[5.4] other credentials in the request have no effect', async () => {
      const accessToken = await service.accessToken({ subject_token: token() });
      const cookie = await service.sessionCookie(token());
      const others: Record<string, string>[] = [{ authorization: `Bearer ${accessToken}` }, { cookie }];
      for (const headers of others) {
        expect((await service.exchange({}, headers)).status).toBe(400);
        const forged = await service.exchange({ subject_token: `${token()}x` }, headers);
        expect(await forged.text()).toBe(INVALID_GRANT);
      }
      const harmless: Record<string, string>[] = [
        { authorization: 'Bearer nonsense' },
        { cookie: '__Host-svc-session=nonsense' },
      ];
      for (const headers of harmless) {
        expect((await service.exchange({ subject_token: token() }, headers)).status).toBe(200);
      }
    });
  });

  describe('the lifetime of an issued token', () => {
    it.each([
      ["equals the subject token's without an actor", 33, undefined, 33],
      ['[8.1] is 900 seconds if both tokens last longer', 4000, 3000, 900],
    ])('[4.2.5] %s', async (_, subjectSeconds, actorSeconds, expected) => {
      const lasting = (seconds: number) => token({ sub: newSub(), exp: nowSeconds() + seconds });
      const answer = await exchange({
        subject_token: lasting(subjectSeconds),
        actor_token: actorSeconds === undefined ? undefined : lasting(actorSeconds),
      });
      const body = (await answer.json()) as { access_token: string; expires_in: number };
      expect(body.expires_in).toBe(expected);
      expect(decodeJwt(body.access_token)).toMatchObject({ iat: nowSeconds(), exp: nowSeconds() + expected });
    });
  });

  describe('the issued token', () => {
    const keySet = async () =>
      (await (await service.fetch('/.well-known/jwks.json')).json()) as JSONWebKeySet;
    const verified = async (accessToken: string) =>
      jwtVerify(accessToken, createLocalJWKSet(await keySet()), {
        currentDate: new Date(clock.nowMs()),
        issuer: BASE_URL,
        audience: BASE_URL,
        typ: 'at+jwt',
        algorithms: ['ES256'],
      });

    it('[D29] verifies against the published keys and has the claims of RFC 9068', async () => {
      const [sub, actorSub] = [newSub(), newSub()];
      const fields = { scope: 'a b', resource: 'https://a.example' };
      const { payload, protectedHeader } = await verified(
        await service.accessToken({
          subject_token: token({ sub }),
          actor_token: token({ sub: actorSub }),
          ...fields,
        }),
      );
      expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
      const idOf = async (external: string) => (await linkedUser(service, partner.issuer, external))?.id;
      expect(payload).toEqual({
        iss: BASE_URL,
        aud: BASE_URL,
        sub: await idOf(sub),
        act: { sub: await idOf(actorSub) },
        client_id: partner.issuer,
        requested_scope: 'a b',
        requested_resource: 'https://a.example',
        jti: expect.any(String),
        iat: expect.any(Number),
        exp: expect.any(Number),
        // Both were signed by one key.
        vouched_by: [{ iss: partner.issuer, kid: partner.kid }],
        access_generation: '0',
        actor_access_generation: '0',
        // Hashes, by which a logout of the provider ends the token.
        logins: [sub, actorSub].map(() => ({
          iat: expect.any(Number),
          sub: expect.stringMatching(/^[\w-]{22}$/),
        })),
      });
    });

    it('[D29] is signed by a key of which only public members are published', async () => {
      const { keys } = await keySet();
      expect(keys.length).toBeGreaterThanOrEqual(1);
      for (const key of keys) {
        expect(key).toEqual({
          kty: 'EC',
          crv: 'P-256',
          x: expect.any(String),
          y: expect.any(String),
          kid: expect.any(String),
          use: 'sig',
          alg: 'ES256',
        });
      }
    });
  });

  describe('an access token', () => {
    const sub = 'worker';
    const adminSub = 'supervisor';
    let workerId: string;
    let adminId: string;

    beforeAll(async () => {
      workerId = await createUser(service, { email: `${sub}@partner.example` });
      adminId = await createUser(service, { email: `${adminSub}@partner.example`, role: 'global:admin' });
      await createWorkflow(service, workerId, 'of the worker');
      await createWorkflow(service, adminId, 'of the supervisor');
    });

    const tokens = (subject: string, actor?: string) => ({
      subject_token: token({ sub: subject }),
      actor_token: actor === undefined ? undefined : token({ sub: actor }),
    });

    it("[4.2.2] has the subject's rights if there is no actor", async () => {
      expect(await namesOfWorkflows(await service.accessToken(tokens(sub)))).toEqual(['of the worker']);
      const all = await namesOfWorkflows(await service.accessToken(tokens(adminSub)));
      expect(all).toEqual(expect.arrayContaining(['of the worker', 'of the supervisor']));
    });

    it("[4.2.3] has the actor's rights if there is an actor, whether they are more or fewer", async () => {
      const more = await namesOfWorkflows(await service.accessToken(tokens(sub, adminSub)));
      expect(more).toEqual(expect.arrayContaining(['of the worker', 'of the supervisor']));
      expect(await namesOfWorkflows(await service.accessToken(tokens(adminSub, sub)))).toEqual([
        'of the worker',
      ]);
    });

    it('[4.2.4] is not limited by a requested scope or resource', async () => {
      const narrow = { scope: 'nothing:at-all', resource: 'https://elsewhere.example' };
      const accessToken = await service.accessToken({ ...tokens(adminSub), ...narrow });
      const names = await namesOfWorkflows(accessToken);
      expect(names).toEqual(expect.arrayContaining(['of the worker', 'of the supervisor']));
    });
  });

  describe('an invalid Bearer credential', () => {
    let genuine: JWTPayload;

    beforeAll(async () => {
      genuine = await claimsOf(await exchange());
    });

    /** Signs with the instance's own key a token that the instance would issue only by mistake. */
    function signedByInstance(claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
      const { kid, privateKey } = service.part(SigningKeyService).current();
      return new SignJWT({ ...genuine, exp: nowSeconds() + 60, ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
        .sign(privateKey);
    }

    async function expectRefused(credential: string): Promise<void> {
      for (const path of ['/rest/me', '/api/v1/workflows']) {
        const answer = await service.fetch(path, bearer(credential));
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
        expect(await answer.text()).not.toContain(credential);
      }
    }

    it('[D31] control: a token that this test signs with unchanged claims is accepted', async () => {
      expect(await status('/rest/me', await signedByInstance({}))).toBe(200);
    });

    it.each([
      ['another typ', {}, { typ: 'JWT' }],
      ['another audience', { aud: 'https://elsewhere.example' }, {}],
      ['no audience', { aud: undefined }, {}],
      ['another issuer', { iss: 'https://elsewhere.example' }, {}],
      ['an end in the past', { exp: 1 }, {}],
      ['no end', { exp: undefined }, {}],
      ['no subject', { sub: undefined }, {}],
      ['an unknown kid', {}, { kid: 'nobody' }],
    ])('[D31] is a token of our own key with %s', async (_, claims: JWTPayload, header) => {
      await expectRefused(await signedByInstance(claims, header));
    });

    it('[4.3] is an access token in the query, or with another scheme', async () => {
      const accessToken = await service.accessToken({ subject_token: token() });
      expect((await service.fetch(`/rest/me?access_token=${accessToken}`)).status).toBe(401);
      const basic = { headers: { authorization: `Basic ${accessToken}` } };
      expect((await service.fetch('/rest/me', basic)).status).toBe(401);
    });

    it('[D31][K7] an issued token is refused as subject token and as actor token', async () => {
      const accessToken = await service.accessToken({ subject_token: token() });
      expect(await (await exchange({ subject_token: accessToken })).text()).toBe(INVALID_GRANT);
      expect(await (await exchange({ actor_token: accessToken })).text()).toBe(INVALID_GRANT);
      expect((await service.embed({ token: accessToken })).status).toBe(401);
    });
  });

  it('[7.5] no test has caused a fault in the log', () => {
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
