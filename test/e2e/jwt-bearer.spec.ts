// Ordinary JWTs by the grant of RFC 7523: which are accepted, from which clients, and together with identity assertions.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { jsonOf } from '../support/answers.js';
import { eventsOf, reasonOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { INVALID_GRANT } from '../support/entry-paths.js';
import { ASSERTIONS_ON, IdJagClient, JWT_BEARER } from '../support/id-jag-client.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import { MetricSamples } from '../support/metric-samples.js';
import type { Fields } from '../support/test-service.js';
import { BASE_URL, GRANT_TYPE, TestService } from '../support/test-service.js';

const ENDPOINT = `${BASE_URL}/rest/auth/oauth/token`;
const METADATA = '/.well-known/oauth-authorization-server';

const partnerOf = (name: string) => Partner.create({ issuer: `https://${name}.example`, audience: BASE_URL });
/** Sends its JWTs by both grants. */
const both = partnerOf('both');
/** Expects no audience of its own. */
const open = partnerOf('open');
/** Expects another audience than this instance has by itself. */
const narrow = partnerOf('narrow');
const busy = partnerOf('busy');
/** Trusted for everything else. */
const closed = partnerOf('closed');
const desktop = new IdJagClient('desktop');

const entryOf = (partner: Partner, policy: Members = {}) =>
  partner.staticEntry({ flows: ['jwt-bearer'], ...policy });

function redeem(
  service: TestService,
  assertion: string,
  fields: Fields = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const form = { grant_type: JWT_BEARER, assertion, ...fields };
  return service.post('/rest/auth/oauth/token', form, headers);
}

describeOnAnyDatabase('the grant jwt-bearer', (database) => {
  const trustedKeys = [
    entryOf(both, { flows: ['exchange', 'jwt-bearer'], scopes: ['workflow:read'] }),
    entryOf(open, { expectedAudience: undefined }),
    entryOf(narrow, { expectedAudience: 'https://narrow.example/audience' }),
    entryOf(busy, { perMinute: 1 }),
    closed.staticEntry({ flows: ['embed', 'exchange', 'logout'] }),
    desktop.entry(),
  ];
  const service = TestService.forBlock(database, { trustedKeys, environment: ASSERTIONS_ON });

  it('[D133] answers like an exchange without the type of the token, and the trail has the flow', async () => {
    const email = 'ada@both.example';
    const userId = await createUser(service, { email });
    await createWorkflow(service, userId, 'of ada');
    const before = await MetricSamples.read(service);
    const answer = await redeem(service, both.sign(both.claims({ sub: 'ada', email })));
    const body = await jsonOf(answer);
    expect([answer.status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        scope: 'workflow:read',
      },
    ]);
    const claims = decodeJwt(String(body['access_token']));
    expect(claims).toMatchObject({ client_id: both.issuer });
    const headers = { authorization: `Bearer ${String(body['access_token'])}` };
    expect(await jsonOf(await service.fetch('/api/v1/workflows', { headers }))).toMatchObject({
      data: [{ name: 'of ada' }],
    });
    const rows = await eventsOf(service, answer);
    expect(rows.find(({ name }) => name === 'svc.audit.token-exchange.succeeded')?.payload).toMatchObject({
      flow: 'jwt-bearer',
      issuer: both.issuer,
    });
    const after = await MetricSamples.read(service);
    const counted = (samples: MetricSamples) =>
      samples.value('svc_token_exchanges_total', { outcome: 'succeeded' });
    expect(counted(after)).toBe(counted(before) + 1);
    expect(after.value('svc_id_assertions_total')).toBe(before.value('svc_id_assertions_total'));
  });

  it.each<[string, Partner, unknown, string]>([
    ['the issuer', open, BASE_URL, 'none'],
    ['the token endpoint', open, ENDPOINT, 'none'],
    ['another beside them', open, [BASE_URL, 'https://else.example'], 'audience_mismatch'],
    ['the issuer beside it', narrow, ['https://narrow.example/audience', BASE_URL], 'audience_mismatch'],
  ])('[D133] for the audience %s', async (_, partner, aud, reason) => {
    const answer = await redeem(service, partner.sign(partner.claims({ sub: 'audience', aud })));
    const isTaken = (await eventsOf(service, answer)).some(({ name }) => name.endsWith('.succeeded'));
    expect([isTaken, reason === 'none' ? 'none' : await reasonOf(service, answer)]).toEqual([
      reason === 'none',
      reason,
    ]);
  });

  it.each([
    ['JWT', 200],
    [undefined, 200],
    ['at+jwt', 400],
    ['authorization-grant+jwt', 400],
    ['text', 400],
  ])('[D133] by the typ %s', async (typ, status) => {
    const answer = await redeem(service, both.sign(both.claims({ sub: 'typ' }), { typ }));
    expect(answer.status).toBe(status);
    if (status !== 200) expect(await reasonOf(service, answer)).toBe('token_type_not_allowed');
  });

  it.each<[string, number, Fields, Record<string, string>, string]>([
    ['none', 200, {}, {}, both.issuer],
    ['a client_id alone', 200, { client_id: 'anybody' }, {}, both.issuer],
    ['a right secret', 200, {}, desktop.basic, 'desktop'],
    ['a wrong secret', 401, { client_id: 'desktop', client_secret: 'x' }, {}, ''],
    ['an unknown client', 401, { client_id: 'nobody', client_secret: 'x' }, {}, ''],
  ])('[D133] with the credentials of a client: %s', async (_, status, fields, headers, clientId) => {
    const answer = await redeem(service, both.sign(both.claims({ sub: 'client' })), fields, headers);
    expect(answer.status).toBe(status);
    const body = await jsonOf(answer);
    if (status === 401) expect(body).toMatchObject({ error: 'invalid_client' });
    else expect(decodeJwt(String(body['access_token']))['client_id']).toBe(clientId);
  });

  it.each<[string, string, () => string]>([
    ['of an entry that does not name the flow', 'flow_not_allowed', () => closed.sign()],
    ['of an entry for identity assertions', 'flow_not_allowed', () => desktop.idp.sign(desktop.claims())],
    ['without a jti', 'claims_invalid', () => both.sign(both.claims({ jti: undefined }))],
    ['bound to a key', 'confirmation_not_supported', () => both.sign(both.claims({ cnf: {} }))],
  ])('[D133] a JWT %s is invalid_grant, and uses nothing up', async (_, reason, make) => {
    const before = await census(service);
    const answer = await redeem(service, make());
    expect([answer.status, await answer.text()]).toEqual([400, INVALID_GRANT]);
    const [row] = await eventsOf(service, answer);
    expect(row).toMatchObject({
      name: 'svc.audit.token-exchange.failed',
      payload: { flow: 'jwt-bearer', reason },
    });
    expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 1 });
  });

  it('[5.2.5] a JWT is accepted once by both grants together', async () => {
    const assertion = both.sign(both.claims({ sub: 'once' }));
    expect((await redeem(service, assertion)).status).toBe(200);
    expect(await reasonOf(service, await redeem(service, assertion))).toBe('token_replayed');
    const exchanged = await service.exchange({ subject_token: assertion });
    expect(await reasonOf(service, exchanged)).toBe('token_replayed');
  });

  it('[P.perMinute] above the limit of its entry it gets 429, with or without a client', async () => {
    expect((await redeem(service, busy.sign())).status).toBe(200);
    expect((await redeem(service, busy.sign(), {}, desktop.basic)).status).toBe(429);
  });

  it('[D133] an identity assertion still needs its client', async () => {
    expect((await desktop.redeem(service)).status).toBe(200);
    const withoutClient = await desktop.redeem(service, {}, {});
    expect([withoutClient.status, await reasonOf(service, withoutClient)]).toEqual([
      401,
      'client_credential_missing',
    ]);
  });
});

describeOnAnyDatabase('the grant jwt-bearer if no entry names it', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [closed.staticEntry()] });

  it('[4.2.grant_type][D58] is unsupported, until a stored entry names it', async () => {
    const grants = async () => (await jsonOf(await service.fetch(METADATA)))['grant_types_supported'];
    expect(await grants()).toEqual([GRANT_TYPE]);
    const refused = await redeem(service, both.sign());
    expect(await jsonOf(refused)).toEqual({
      error: 'unsupported_grant_type',
      error_description: `grant_type must be ${GRANT_TYPE}`,
    });
    await service.part(StoredEntryService).add(entryOf(both, { name: 'both' }));
    expect(await grants()).toEqual([GRANT_TYPE, JWT_BEARER]);
    expect((await redeem(service, both.sign())).status).toBe(200);
  });
});
