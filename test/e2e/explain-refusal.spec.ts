// A partner asks with a signature why its token was refused: the explanations, and the requests that get none.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { EVENT, eventsOf, requestIdOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { body, JwksServer } from '../support/jwks-server.js';
import { changeUser, linkedUser } from '../support/local-users.js';
import { LOGOUT_PATH, logoutToken } from '../support/logout-tokens.js';
import { statementsOf } from '../support/statements.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const PATH = '/rest/auth/explain';
const ISSUER = 'https://main.example';
const NOTHING = { error: 'not_found', error_description: 'No refusal to explain' };
/** What followers and purges of the service read and delete meanwhile. */
const IN_THE_BACKGROUND =
  /^\s*DELETE|token_exchange_(stored_entry|trust_revocation|ended_token|logout|jwks_snapshot)/;
const nowSeconds = () => Math.floor(Date.now() / 1000);

const partnerOf = (issuer: string, kid: string) => Partner.create({ issuer, kid, audience: BASE_URL });
const main = partnerOf(ISSUER, 'main');
/** Another entry of the same issuer. */
const sibling = partnerOf(ISSUER, 'sibling');
const other = partnerOf('https://other.example', 'main');
/** Its entry has no `mayExplain`. */
const silent = partnerOf('https://silent.example', 'silent');
const suspended = partnerOf('https://ended.example', 'ended');
const revoked = partnerOf('https://revoked.example', 'revoked');
/** Signs with the kid of another. */
const impostor = partnerOf(ISSUER, 'main');

const mayExplain = true;
const trustedKeys = [
  ...[main, sibling, other, revoked].map((partner) => partner.staticEntry({ mayExplain })),
  silent.staticEntry(),
  suspended.staticEntry({ mayExplain, notAfter: '2020-01-01' }),
];

function proofOf(partner: Partner, requestId: unknown, claims: Members = {}, header: Members = {}): string {
  const iat = nowSeconds();
  const own = { iss: partner.issuer, aud: BASE_URL + PATH, iat, jti: randomUUID(), request_id: requestId };
  return partner.sign(
    Object.fromEntries(Object.entries({ ...own, ...claims }).filter(([, value]) => value !== undefined)),
    { typ: 'explain+jwt', ...header },
  );
}

describeOnAnyDatabase('a question about a refusal', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  let addresses = 0;
  /** From an address of its own each time: the trail has some strangers of each. */
  const ask = (proof: string) =>
    service.post(PATH, { proof }, { 'x-forwarded-for': `10.0.0.${++addresses}` });
  const told = async (partner: Partner, requestId: string) => {
    const answer = await ask(proofOf(partner, requestId));
    return [answer.status, (await answer.json()) as Members] as const;
  };
  /** The request id of an exchange that is refused. */
  const refused = async (partner: Partner, claims: Members = {}, header: Members = {}) => {
    const answer = await service.exchange({ subject_token: partner.sign(partner.claims(claims), header) });
    expect(answer.status).toBe(400);
    return requestIdOf(answer);
  };
  const ofAudience = (partner: Partner) => refused(partner, { aud: 'https://elsewhere.example' });

  it('[D146][P.mayExplain] is answered with check, cause, remedy, expected and found, as the operator sees them', async () => {
    const requestId = await ofAudience(main);
    const answer = await ask(proofOf(main, requestId));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [refusal] = await eventsOf(service, requestId);
    expect(await answer.json()).toEqual({
      request_id: requestId,
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      flow: 'exchange',
      party: 'subject',
      reason: 'audience_mismatch',
      check: 'audience',
      cause: expect.stringContaining('not the expected audience'),
      remedy: expect.stringContaining('`aud`'),
      expected: refusal?.payload['expected'],
      found: 'https://elsewhere.example',
    });
    expect(await eventsOf(service, answer)).toMatchObject([
      {
        name: `${EVENT}refusal-explained`,
        payload: { issuer: ISSUER, kid: 'main', reason: 'audience_mismatch' },
      },
    ]);
  });

  it('[D146] is answered for an embedded login and for a logout', async () => {
    const login = await service.embed({
      token: main.sign(main.claims({ aud: 'https://elsewhere.example' })),
    });
    const logout = await service.post(LOGOUT_PATH, {
      logout_token: logoutToken(main, { sub: 'ada', aud: 'https://elsewhere.example' }),
    });
    for (const [flow, answer] of [
      ['embed', login],
      ['logout', logout],
    ] as const)
      expect(await told(main, requestIdOf(answer))).toMatchObject([
        200,
        { flow, reason: 'audience_mismatch' },
      ]);
  });

  it('[D146] is answered to every entry of the issuer, if no known key has made the signature', async () => {
    const unknownKid = await refused(main, {}, { kid: 'unknown' });
    const badSignature = await refused(impostor);
    for (const partner of [main, sibling]) {
      expect(await told(partner, unknownKid)).toMatchObject([200, { reason: 'kid_unknown', check: 'key' }]);
      expect(await told(partner, badSignature)).toMatchObject([200, { reason: 'signature_invalid' }]);
    }
    for (const id of [unknownKid, badSignature]) expect(await told(other, id)).toEqual([404, NOTHING]);
  });

  it('[D146] reveals about a user only that this person is refused', async () => {
    const sub = randomUUID();
    await service.accessToken({ subject_token: main.sign(main.claims({ sub })) });
    const user = await linkedUser(service, ISSUER, sub);
    await changeUser(service, user!.id, { enabled: false });
    const requestId = await refused(main, { sub });
    expect((await eventsOf(service, requestId))[0]?.payload).toMatchObject({ reason: 'user_disabled' });
    expect(await told(main, requestId)).toEqual([
      200,
      {
        request_id: requestId,
        occurred_at: expect.any(String),
        flow: 'exchange',
        party: 'subject',
        check: 'user',
        cause: 'this person is refused',
        remedy: 'ask the operator of the instance, who finds the cause by the request id',
      },
    ]);
  });

  const attacks: [string, string, (id: string) => string | Promise<string>][] = [
    ['of another partner', 'refusal_unknown', (id) => proofOf(other, id)],
    ['of another entry of the issuer', 'refusal_unknown', (id) => proofOf(sibling, id)],
    ['about a guessed id', 'refusal_unknown', () => proofOf(main, randomUUID())],
    [
      'of an entry without mayExplain',
      'explaining_not_allowed',
      async () => proofOf(silent, await ofAudience(silent)),
    ],
    ['of an entry whose trust has ended', 'trust_ended', (id) => proofOf(suspended, id)],
    ['with the key of somebody else', 'signature_invalid', (id) => proofOf(impostor, id)],
    ['of an unknown issuer', 'issuer_unknown', (id) => proofOf(partnerOf('https://nobody.example', 'x'), id)],
    ['without its typ', 'token_type_not_allowed', (id) => proofOf(main, id, {}, { typ: 'JWT' })],
    [
      'for the token endpoint',
      'audience_mismatch',
      (id) => proofOf(main, id, { aud: `${BASE_URL}/rest/auth/oauth/token` }),
    ],
    [
      'for this endpoint and another',
      'audience_mismatch',
      (id) => proofOf(main, id, { aud: [BASE_URL + PATH, BASE_URL] }),
    ],
    [
      'that is 61 seconds old',
      'token_expired',
      (id) => proofOf(main, id, { iat: nowSeconds() - 61, exp: nowSeconds() + 60 }),
    ],
    ['from the future', 'token_issued_in_future', (id) => proofOf(main, id, { iat: nowSeconds() + 120 })],
    ['without jti', 'claims_invalid', (id) => proofOf(main, id, { jti: undefined })],
    ['without request_id', 'claims_invalid', () => proofOf(main, undefined)],
    ['whose request_id is long', 'claims_not_storable', () => proofOf(main, 'x'.repeat(201))],
    ['that is no JWT', 'token_malformed', () => 'proof'],
  ];

  it.each(attacks)('[D146] %s gets the one 404, and is recorded as %s', async (_, reason, make) => {
    const answer = await ask(await make(await ofAudience(main)));
    expect([answer.status, await answer.json()]).toEqual([404, NOTHING]);
    expect(await eventsOf(service, answer)).toMatchObject([
      { name: `${EVENT}explain-refused`, payload: { reason } },
    ]);
  });

  it('[D146] about a success, an explanation or a refused question gets the one 404', async () => {
    const success = await service.exchange({ subject_token: main.sign(main.claims()) });
    expect(success.status).toBe(200);
    const explained = await ask(proofOf(main, await ofAudience(main)));
    const unanswered = await ask(proofOf(main, randomUUID()));
    for (const answer of [success, explained, unanswered])
      expect(await told(main, requestIdOf(answer))).toEqual([404, NOTHING]);
  });

  it('[D146][5.2.5] is answered once, also if twenty ask at once with one proof', async () => {
    const proof = proofOf(main, await ofAudience(main));
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await ask(proof)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(19);
    const again = await ask(proof);
    expect([again.status, await again.json()]).toEqual([404, NOTHING]);
  });

  it('[D146] by a revoked key gets the one 404', async () => {
    const requestId = await ofAudience(revoked);
    expect((await told(revoked, requestId))[0]).toBe(200);
    await service
      .part(RevocationService)
      .revoke({ issuer: revoked.issuer, kid: 'revoked' }, 'revoke-the-issuer');
    expect(await told(revoked, requestId)).toEqual([404, NOTHING]);
  });

  it('[D146][D31] a proof is no external token, and an external token is no proof', async () => {
    const proof = proofOf(main, randomUUID(), { sub: 'ada', aud: BASE_URL, exp: nowSeconds() + 50 });
    expect((await service.exchange({ subject_token: proof })).status).toBe(400);
    expect((await service.embed({ token: proof })).status).toBe(401);
    expect((await ask(main.sign(main.claims({ aud: BASE_URL + PATH })))).status).toBe(404);
  });

  it('[D16] names its field if it is missing', async () => {
    const answer = await service.post(PATH, {});
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'proof is required' },
    ]);
  });

  it('[D146] runs the same statements whether the id is unknown, another’s, a success or not to be explained', async () => {
    const [own, others] = [await ofAudience(main), await ofAudience(other)];
    const ofSilent = await ofAudience(silent);
    const success = requestIdOf(await service.exchange({ subject_token: main.sign(main.claims()) }));
    const used = proofOf(main, own);
    await ask(used);
    const statements = async (proof: string) =>
      (await statementsOf(service, () => ask(proof))).filter((text) => !IN_THE_BACKGROUND.test(text));
    const known = await statements(proofOf(main, own));
    expect(known).toEqual([
      expect.stringContaining('INSERT INTO token_exchange_used_jti'),
      expect.stringMatching(/FROM audit_event\s+WHERE request_id/),
      expect.stringContaining('INSERT INTO audit_event'),
    ]);
    for (const proof of [
      ...[randomUUID(), others, success].map((id) => proofOf(main, id)),
      ...[proofOf(silent, ofSilent), proofOf(sibling, own), used],
    ])
      expect(await statements(proof)).toEqual(known);
  });
});

describeOnAnyDatabase('a question of a partner with a key set', (database) => {
  const jwks = JwksServer.forBlock();

  it('[D146] is answered after a rotation, by the new key about a token of the former one', async () => {
    const partner = partnerOf('https://rotating.example', 'former');
    const token = partner.sign(partner.claims({ aud: 'https://elsewhere.example' }));
    partner.rotate('present');
    jwks.answerWith(body(JSON.stringify(partner.jwks())));
    const entry = {
      type: 'jwks',
      url: jwks.url,
      issuer: partner.issuer,
      expectedAudience: BASE_URL,
      mayExplain,
    };
    const environment = { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' };
    await withService(database, { trustedKeys: [entry], environment }, async (service) => {
      const requestId = requestIdOf(await service.exchange({ subject_token: token }));
      const answer = await service.post(PATH, { proof: proofOf(partner, requestId) });
      expect([answer.status, await answer.json()]).toMatchObject([200, { reason: 'audience_mismatch' }]);
    });
  });
});
