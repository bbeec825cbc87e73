// Tokens that only their holder can use (RFC 9449), from outside: what a proof gets, what a wrong one costs, and what a thief gets.
import { decodeJwt } from 'jose';
import { Partner } from '../../demo/partner.js';
import { jsonOf } from '../support/answers.js';
import type { StoredEvent } from '../support/audit.js';
import { EVENT, eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import type { ProofOptions } from '../support/dpop-client.js';
import { DpopClient, sha256, TOKEN_URL } from '../support/dpop-client.js';
import { explain } from '../support/explanations.js';
import { ASSERTIONS_ON, IdJagClient, sha256 as hashOf } from '../support/id-jag-client.js';
import { MetricSamples } from '../support/metric-samples.js';
import type { Fields } from '../support/test-service.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const ME = '/rest/me';
const WORKFLOWS = '/api/v1/workflows';
const INVALID_PROOF = {
  error: 'invalid_dpop_proof',
  error_description: 'The DPoP proof is missing or not valid',
};

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const limited = Partner.create({ issuer: 'https://limited.example', audience: BASE_URL });
const careful = Partner.create({ issuer: 'https://careful.example', audience: BASE_URL });
const plain = Partner.create({ issuer: 'https://plain.example', audience: BASE_URL });
const agents = new IdJagClient('agents');
const client = new DpopClient();
const thief = new DpopClient();

type Json = Record<string, unknown>;
const boundTo = (jkt: string) => ({ cnf: { jkt } });
const external = (claims: Json = {}) => partner.sign(partner.claims(claims));
const trustedKeys = () => [
  partner.staticEntry(),
  limited.staticEntry({ scopes: ['audit:read'] }),
  careful.staticEntry({ requireDpop: true }),
  plain.staticEntry({ flows: ['jwt-bearer'] }),
  agents.entry({ clients: [{ id: agents.id, secretHash: hashOf(agents.secret), introspect: true }] }),
];

/** An access token that is bound to the key of `client`. */
async function boundToken(service: TestService, fields: Fields = {}, nonce?: string): Promise<string> {
  const dpop = client.proof({ claims: { nonce } });
  const answer = await service.exchange({ subject_token: external(), ...fields }, { dpop });
  const body = await jsonOf(answer);
  expect([answer.status, body['token_type']]).toEqual([200, 'DPoP']);
  return String(body['access_token']);
}

async function eventOf(service: TestService, answer: Response): Promise<StoredEvent | undefined> {
  const [event, ...others] = await eventsOf(service, answer);
  expect(others).toEqual([]);
  return event;
}

describeOnAnyDatabase('[D140] DPoP', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys: trustedKeys(),
    environment: ASSERTIONS_ON,
  });
  const call = (headers: Record<string, string>, path = ME) => service.fetch(path, { headers });

  describe('at the token endpoint', () => {
    it('[D140] a proof binds the access token to its key, which the trail says; without one it is a Bearer token', async () => {
      // The first time the user is made, in a transaction; afterwards nothing is.
      for (let times = 0; times < 2; times += 1) {
        const answer = await service.exchange({ subject_token: external() }, { dpop: client.proof() });
        const body = await jsonOf(answer);
        const token = String(body['access_token']);
        expect(body).toMatchObject({ token_type: 'DPoP', issued_token_type: expect.any(String) });
        expect(answer.headers.get('dpop-nonce')).toBeNull();
        expect(decodeJwt(token)).toMatchObject(boundTo(client.thumbprint));
        expect((await call(client.headersFor(token, ME))).status).toBe(200);
        const rows = await eventsOf(service, answer);
        expect(rows.at(-1)).toMatchObject({ payload: { keyThumbprint: client.thumbprint } });
      }
      const plain = await service.exchange({ subject_token: external() });
      const { token_type: type, access_token: token } = await jsonOf(plain);
      expect([type, decodeJwt(String(token))['cnf']]).toEqual(['Bearer', undefined]);
      expect((await eventOf(service, plain))?.payload).not.toHaveProperty('keyThumbprint');
    });

    it('[D140] a proof by another key is refused, and leaves the token unused', async () => {
      const token = external();
      const before = await census(service);
      const dpop = client.proof({ signedBy: thief });
      const answer = await service.exchange({ subject_token: token }, { dpop });
      expect([answer.status, await jsonOf(answer)]).toEqual([400, INVALID_PROOF]);
      expect(await eventOf(service, answer)).toMatchObject({
        name: `${EVENT}failed`,
        payload: { reason: 'dpop_proof_invalid', detail: 'its signature' },
      });
      expect((await census(service)).usedJtis).toBe(before.usedJtis);
      expect((await service.exchange({ subject_token: token }, { dpop: client.proof() })).status).toBe(200);
    });

    it('[D142] a proof is accepted once, and a repeated one uses the token up', async () => {
      const dpop = client.proof();
      const [first, second] = [external(), external()];
      expect((await service.exchange({ subject_token: first }, { dpop })).status).toBe(200);
      const answer = await service.exchange({ subject_token: second }, { dpop });
      expect([answer.status, await jsonOf(answer)]).toEqual([400, INVALID_PROOF]);
      expect((await eventOf(service, answer))?.payload['reason']).toBe('dpop_proof_replayed');
      const again = await service.exchange({ subject_token: second }, { dpop: client.proof() });
      expect((await eventOf(service, again))?.payload['reason']).toBe('token_replayed');
    });

    it.each<[string, string, Json, Json | undefined, DpopClient | undefined]>([
      ['a bound token with its key', 'bound', boundTo(client.thumbprint), undefined, client],
      [
        'a bound token without a proof',
        'dpop_proof_missing',
        boundTo(client.thumbprint),
        undefined,
        undefined,
      ],
      ["a bound token with a thief's key", 'dpop_key_mismatch', boundTo(client.thumbprint), undefined, thief],
      ['both bound to one key', 'bound', boundTo(client.thumbprint), boundTo(client.thumbprint), client],
      ['a bound actor of an unbound subject', 'bound', {}, boundTo(client.thumbprint), client],
      ['a bound actor without a proof', 'dpop_proof_missing', {}, boundTo(client.thumbprint), undefined],
      ["a bound actor with the subject's proof", 'dpop_key_mismatch', {}, boundTo(client.thumbprint), thief],
      ['an unbound actor of a bound subject', 'bound', boundTo(client.thumbprint), {}, client],
      ['two keys', 'dpop_key_mismatch', boundTo(client.thumbprint), boundTo(thief.thumbprint), client],
    ])('[D127][D140] %s: %s', async (_, outcome, subject, actor, prover) => {
      const fields = {
        subject_token: external(subject),
        actor_token: actor && external({ sub: 'agent', ...actor }),
      };
      const headers = prover === undefined ? undefined : { dpop: prover.proof() };
      const answer = await service.exchange(fields, headers);
      const { access_token: token, error } = await jsonOf(answer);
      if (outcome === 'bound')
        return expect(decodeJwt(String(token))).toMatchObject(boundTo(client.thumbprint));
      expect(error).toBe('invalid_dpop_proof');
      expect((await eventOf(service, answer))?.payload['reason']).toBe(outcome);
    });

    it('[P.requireDpop] an entry may ask for a proof, of its subjects and its actors, and not for their sessions', async () => {
      const tries = [
        { subject_token: careful.sign() },
        { subject_token: external(), actor_token: careful.sign() },
      ];
      for (const fields of tries) {
        const refused = await service.exchange(fields);
        expect([refused.status, await jsonOf(refused)]).toEqual([400, INVALID_PROOF]);
        const reason = (await eventOf(service, refused))?.payload['reason'];
        expect([reason, (await service.exchange(fields, { dpop: client.proof() })).status]).toEqual([
          'dpop_proof_missing',
          200,
        ]);
      }
      expect((await service.embed({ token: careful.sign() })).status).toBe(303);
    });

    it('[D127] an identity assertion that is bound is redeemed by its key alone', async () => {
      const claims = boundTo(client.thumbprint);
      const redeem = (headers: Record<string, string>) =>
        agents.redeem(service, { assertion: agents.assertion(claims) }, { ...agents.basic, ...headers });
      const answers = [await redeem({}), await redeem({ dpop: thief.proof() })];
      for (const answer of answers) expect(await jsonOf(answer)).toEqual(INVALID_PROOF);
      const good = await jsonOf(await redeem({ dpop: client.proof() }));
      expect([good['token_type'], decodeJwt(String(good['access_token']))]).toMatchObject(['DPoP', claims]);
      const told = { token: String(good['access_token']) };
      const introspected = await service.post('/rest/auth/oauth/introspect', told, agents.basic);
      expect(await jsonOf(introspected)).toMatchObject({ active: true, token_type: 'DPoP', ...claims });
    });

    it('[D127] a bound token opens no session, with its proof or without', async () => {
      const proof = client.proof({ claims: { htu: `${BASE_URL}/rest/auth/embed` } });
      const tries: Record<string, string>[] = [{}, { dpop: proof }];
      for (const headers of tries) {
        const answer = await service.embed({ token: external(boundTo(client.thumbprint)) }, headers);
        expect([answer.status, await jsonOf(answer)]).toMatchObject([
          401,
          { error: 'confirmation_not_supported' },
        ]);
      }
    });
  });

  describe('at the API', () => {
    let token: string;
    let unbound: string;
    // One for each test: of one token ten refusals a minute are recorded.
    beforeEach(async () => {
      token = await boundToken(service);
      unbound = await service.accessToken({ subject_token: external() });
    });

    const proved = (options: ProofOptions = {}, path = ME) => client.headersFor(token, path, options);

    it('[D140] a bound token is accepted with a proof for each call, whatever the query, at every route', async () => {
      expect((await call(proved())).status).toBe(200);
      expect((await call(proved({}, WORKFLOWS), `${WORKFLOWS}?limit=1`)).status).toBe(200);
      const headers = proved({ claims: { htm: 'HEAD' } }, WORKFLOWS);
      expect((await service.fetch(WORKFLOWS, { method: 'HEAD', headers })).status).toBe(200);
      const post = { ...proved({ claims: { htm: 'POST' } }, WORKFLOWS), 'content-type': 'application/json' };
      const made = await service.fetch(WORKFLOWS, { method: 'POST', headers: post, body: '{"name":"x"}' });
      expect([made.status, made.headers.get('dpop-nonce')]).toEqual([201, null]);
      expect((await call({ authorization: `dpop ${token}`, dpop: client.proofFor(token, ME) })).status).toBe(
        200,
      );
    });

    it.each<[string, string, string | undefined, () => Record<string, string>]>([
      ['as Bearer', 'dpop_proof_missing', undefined, () => ({ authorization: `Bearer ${token}` })],
      ["with a thief's proof", 'dpop_key_mismatch', undefined, () => thief.headersFor(token, ME)],
      [
        'with the proof of another token',
        'dpop_proof_invalid',
        'ath',
        () => proved({ claims: { ath: sha256(unbound) } }),
      ],
      ['unbound, by the scheme DPoP', 'token_not_bound', undefined, () => client.headersFor(unbound, ME)],
      ['of another instance', 'not_issued_here', undefined, () => client.headersFor(external(), ME)],
    ])('[D140] a token %s is refused: %s %s', async (_, reason, detail, make) => {
      const headers = make();
      const answer = await call({ ...headers, 'x-forwarded-for': `198.51.100.${reason.length}` });
      const isBearer = headers['authorization']?.startsWith('Bearer') === true;
      const ofProof = reason.startsWith('dpop') && !isBearer;
      const error = ofProof ? 'invalid_dpop_proof' : 'invalid_token';
      expect([answer.status, (await jsonOf(answer))['error']]).toEqual([401, error]);
      expect(answer.headers.get('www-authenticate')).toMatch(
        isBearer
          ? /^Bearer error="invalid_token", resource_metadata="[^"]+", DPoP algs="RS256 [^"]+ EdDSA"$/
          : new RegExp(`^DPoP error="${error}", algs="RS256 [^"]+ EdDSA", resource_metadata="[^"]+"$`),
      );
      const event = await eventOf(service, answer);
      expect([event?.name, event?.payload['reason'], event?.payload['detail']]).toEqual([
        'svc.audit.api.refused',
        reason,
        detail,
      ]);
    });

    it('[D142] a proof is accepted once, even by simultaneous calls', async () => {
      const headers = proved();
      const answers = await Promise.all(Array.from({ length: 4 }, () => call(headers)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
      const event = await eventOf(service, await call(headers));
      expect(event?.payload['reason']).toBe('dpop_proof_replayed');
    });

    it('[D140] a scope that is missing is asked for by the scheme of the call', async () => {
      const narrow = await boundToken(service, { subject_token: limited.sign() });
      const answer = await call(client.headersFor(narrow, WORKFLOWS), WORKFLOWS);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        403,
        expect.stringMatching(/^DPoP error="insufficient_scope", scope="workflow:read", algs="/),
      ]);
    });
  });

  it('[D140] an explanation says what a proof lacks, and uses none up', async () => {
    const token = external(boundTo(client.thumbprint));
    const of = (proof?: string) => explain(service, { flow: 'exchange', token, proof });
    expect((await of()).refusal).toMatchObject({ reason: 'dpop_proof_missing', check: 'proof' });
    const dpop = client.proof();
    const good = await of(dpop);
    expect(good.checks).toContainEqual({
      ...{ check: 'proof', about: 'htu', party: null, state: 'passed' },
      ...{ expected: TOKEN_URL, found: TOKEN_URL },
    });
    expect(good.issued).toMatchObject({ keyThumbprint: client.thumbprint });
    expect((await service.exchange({ subject_token: token }, { dpop })).status).toBe(200);
    expect((await of(dpop)).refusal).toMatchObject({ reason: 'token_replayed' });
    const used = await explain(service, { flow: 'exchange', token: external(), proof: dpop });
    expect(used.refusal).toMatchObject({ reason: 'dpop_proof_replayed', check: 'replay' });
  });
});

describeOnAnyDatabase('[D143] with nonces', (database) => {
  const service = TestService.forBlock(database, {
    trustedKeys: trustedKeys(),
    environment: { ...ASSERTIONS_ON, SVC_DPOP_NONCE: 'true' },
  });
  const nonceOf = (answer: Response) => answer.headers.get('dpop-nonce') ?? '';

  it('[D143] the token endpoint asks for one, uses nothing up, records nothing, and gives the next with the token', async () => {
    const [token, before] = [external(), await census(service)];
    const asked = [];
    for (const nonce of [undefined, 'x', 7]) {
      const dpop = client.proof({ claims: { nonce } });
      asked.push(await service.exchange({ subject_token: token }, { dpop }));
    }
    for (const answer of asked)
      expect([answer.status, await jsonOf(answer)]).toMatchObject([400, { error: 'use_dpop_nonce' }]);
    expect(await census(service)).toEqual(before);
    const { reason, flow } = { reason: 'dpop_nonce_required', flow: 'exchange' };
    const samples = await MetricSamples.read(service);
    expect(samples.value('svc_request_refusals_total', { reason, flow })).toBe(asked.length);
    const [first] = asked;
    const dpop = client.proof({ claims: { nonce: first && nonceOf(first) } });
    const answer = await service.exchange({ subject_token: token }, { dpop });
    expect([answer.status, nonceOf(answer)]).toEqual([200, expect.stringMatching(/^[\w-]{43}$/)]);
    // Who sends no proof is not asked.
    expect(nonceOf(await service.exchange({ subject_token: external() }))).toBe('');
  });

  it('[D143] a proof with a fault, or by another key, is refused before a nonce is asked for', async () => {
    for (const dpop of [client.proof({ claims: { htm: 'GET' } }), thief.proof()]) {
      const answer = await service.exchange(
        { subject_token: external(boundTo(client.thumbprint)) },
        { dpop },
      );
      expect([await jsonOf(answer), nonceOf(answer)]).toEqual([INVALID_PROOF, '']);
    }
  });

  it('[D143] the API asks for one by its challenge, and gives the next with each answer', async () => {
    const asked = await service.exchange({ subject_token: external() }, { dpop: client.proof() });
    const nonce = nonceOf(asked);
    const token = await boundToken(service, {}, nonce);
    const headers = client.headersFor(token, ME);
    for (let times = 0; times < 2; times += 1) {
      // The proof was not taken, so it is not used up.
      const refused = await service.fetch(ME, { headers });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringMatching(/^DPoP error="use_dpop_nonce", algs="/),
      ]);
      expect([(await jsonOf(refused))['error'], nonceOf(refused)]).toEqual([
        'use_dpop_nonce',
        expect.stringMatching(/^[\w-]{43}$/),
      ]);
      expect(await eventOf(service, refused)).toBeUndefined();
    }
    const answer = await service.fetch(ME, { headers: client.headersFor(token, ME, { claims: { nonce } }) });
    expect([answer.status, nonceOf(answer)]).toEqual([200, expect.stringMatching(/^[\w-]{43}$/)]);
  });
});
