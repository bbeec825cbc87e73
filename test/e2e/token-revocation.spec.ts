// Whoever holds an access token may end it (RFC 7009): what a client is told, what ends, and what does not.
import { decodeJwt } from 'jose';
import { Partner } from '../../demo/partner.js';
import { eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { ASSERTIONS_ON, IdJagClient, sha256 } from '../support/id-jag-client.js';
import { bearerStatus } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import type { Fields } from '../support/test-service.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const PATH = '/rest/auth/oauth/revoke';
const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];

const revoke = (service: TestService, fields: Fields, headers: Record<string, string> = {}) =>
  service.post(PATH, fields, headers);
const endedTokens = async (service: TestService) =>
  (await service.rows('SELECT 1 FROM token_exchange_ended_token')).length;

describeOnEachDatabase('[D61] an access token that its holder ends', (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { trustedKeys, clock });

  const issued = (sub = 'customer') => {
    const iat = Math.floor(clock.nowSeconds());
    return service.accessToken({ subject_token: partner.sign(partner.claims({ sub, iat })) });
  };

  it('ends at once, and another one of the same user continues', async () => {
    const [token, other] = [await issued(), await issued()];
    expect(await bearerStatus(service, token)).toBe(200);
    const answer = await revoke(service, { token, token_type_hint: 'refresh_token' });
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect([await bearerStatus(service, token), await bearerStatus(service, other)]).toEqual([401, 200]);
  });

  it('is in the audit trail once, with its id and its users', async () => {
    const token = await issued();
    const { jti, sub } = decodeJwt(token);
    for (let time = 0; time < 2; time++)
      expect((await revoke(service, { token }, { 'x-request-id': 'end-of-one' })).status).toBe(200);
    expect(await eventsOf(service, 'end-of-one')).toMatchObject([
      {
        name: 'svc.audit.token-exchange.token-revoked',
        subjectUserId: sub,
        actorUserId: null,
        payload: { accessTokenId: jti },
      },
    ]);
    expect(service.logText).not.toContain(token);
  });

  it('twenty ends of one token at the same moment are one', async () => {
    const token = await issued();
    const headers = { 'x-request-id': 'end-in-parallel' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => revoke(service, { token }, headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(await eventsOf(service, 'end-in-parallel')).toHaveLength(1);
  });

  it.each([
    ['is no token', () => 'unknown'],
    ['a partner has signed', () => partner.sign()],
    ['has another signature', async () => `${(await issued()).slice(0, -8)}AAAAAAAA`],
    [
      'has expired',
      async () => {
        const token = await issued();
        clock.advance(60);
        return token;
      },
    ],
  ])('answers 200 to what %s, and records nothing', async (_, make) => {
    const token = await make();
    const before = await endedTokens(service);
    const answer = await revoke(service, { token });
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
    expect(await endedTokens(service)).toBe(before);
  });

  it('is known to an instance that starts later, and forgotten once it has expired', async () => {
    const token = await issued('forgotten');
    await revoke(service, { token });
    await service.restart();
    expect(await bearerStatus(service, token)).toBe(401);
    expect(await endedTokens(service)).toBeGreaterThan(0);
    clock.advance(60);
    await service.purge('revocation-purge');
    // Another instance's clock may be behind.
    expect(await endedTokens(service)).toBeGreaterThan(0);
    clock.advance(120);
    // The row must expire by both clocks, and the database's clock cannot be set.
    await service.rows(`UPDATE token_exchange_ended_token SET expires_at = expires_at - interval '1 hour'`);
    await service.purge('revocation-purge');
    expect(await endedTokens(service)).toBe(0);
  });
});

describeOnAnyDatabase('[D61] an access token that a client has authenticated for', (database) => {
  const agent = new IdJagClient('agent');
  const colleague = new IdJagClient('colleague', agent.idp.issuer);
  const namesake = new IdJagClient('agent');
  const clientOf = ({ id, secret }: IdJagClient) => ({ id, secretHash: sha256(secret) });
  const service = TestService.forBlock(database, {
    trustedKeys: [
      ...trustedKeys,
      agent.entry({ clients: [agent, colleague].map(clientOf) }),
      namesake.entry(),
    ],
    environment: ASSERTIONS_ON,
  });
  const redeemed = async () => {
    const answer = await agent.redeem(service);
    return String(((await answer.json()) as Record<string, unknown>)['access_token']);
  };

  it.each<[string, string, Record<string, string>]>([
    ['no credentials', 'client_credential_missing', {}],
    ['a wrong secret', 'client_credential_invalid', { authorization: `Basic ${btoa('agent:x')}` }],
    ['another client of the entry', 'client_credential_invalid', colleague.basic],
    ['its namesake of another company', 'client_credential_invalid', namesake.basic],
  ])('does not end for %s, which is recorded, but for its client', async (_, reason, headers) => {
    const token = await redeemed();
    const before = await census(service);
    const refused = await revoke(service, { token }, headers);
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    expect(refused.headers.has('www-authenticate')).toBe(true);
    expect(await eventsOf(service, refused)).toMatchObject([
      { name: 'svc.audit.token-exchange.revocation-refused', payload: { reason } },
    ]);
    expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 1 });
    expect(await bearerStatus(service, token)).toBe(200);
    const answer = await revoke(service, { token }, agent.basic);
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    expect(await bearerStatus(service, token)).toBe(401);
  });

  it('is unlike one of an exchange, for which credentials do not matter', async () => {
    const token = await service.accessToken({ subject_token: partner.sign() });
    expect((await revoke(service, { token }, { authorization: 'Basic x' })).status).toBe(200);
    expect(await bearerStatus(service, token)).toBe(401);
  });
});

describeOnAnyDatabase('[D61] the endpoint that ends access tokens', (database) => {
  it('[D57] accepts forms with a token by POST only, and answers pages of no other origin', async () => {
    await withService(database, { trustedKeys }, async (service) => {
      const missing = await revoke(service, {});
      const required = { error: 'invalid_request', error_description: 'token is required' };
      expect([missing.status, await missing.json()]).toEqual([400, required]);
      const { status, headers } = await service.fetch(PATH, { headers: { origin: 'https://page.example' } });
      expect([status, headers.get('allow'), headers.get('access-control-allow-origin')]).toEqual([
        405,
        'POST',
        null,
      ]);
      const type = { 'content-type': 'application/json' };
      const json = await service.fetch(PATH, { method: 'POST', headers: type, body: '{"token":"x"}' });
      expect([json.status, await json.json()]).toMatchObject([415, { error: 'invalid_request' }]);
      expect((await revoke(service, { token: 'x'.repeat(300_000) })).status).toBe(413);
    });
  });

  it.each([
    [501, { SVC_TOKEN_EXCHANGE_ENABLED: 'false' }],
    [404, { SVC_LICENSE: undefined }],
  ])('answers %i with %j', async (status, environment) => {
    await withService(database, { trustedKeys, environment }, async (service) =>
      expect((await revoke(service, { token: 'x' })).status).toBe(status),
    );
  });
});
