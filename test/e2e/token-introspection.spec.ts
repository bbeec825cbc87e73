// Which clients are told what of an access token (RFC 7662), and who else is told nothing.
import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { SignOutService } from '../../src/token-exchange/login/sign-out.service.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ASSERTIONS_ON, CLIENT_ASSERTION, IdJagClient, sha256 } from '../support/id-jag-client.js';
import { changeUser } from '../support/local-users.js';
import { MetricSamples } from '../support/metric-samples.js';
import { TestClock } from '../support/test-clock.js';
import type { Fields } from '../support/test-service.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const PATH = '/rest/auth/oauth/introspect';
const TOOLS = 'https://mcp.example/tools';
const INACTIVE = { active: false };

/** Redeems assertions and introspects. */
const agent = new IdJagClient('agent');
/** Of the same company; may not introspect. */
const silent = new IdJagClient('silent', agent.idp.issuer);
/** Registered under the id of `agent` by another company, and may introspect. */
const namesake = new IdJagClient('agent');
/** A service whose access tokens come from an exchange. */
const tools = new IdJagClient('tools');
const byKey = new IdJagClient('by-key');
const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

const clientOf = ({ id, secret }: IdJagClient, more: Members = {}) => ({
  id,
  secretHash: sha256(secret),
  ...more,
});
const introspect = true;
const trustedKeys = [
  agent.entry({ clients: [clientOf(agent, { introspect }), clientOf(silent)], resources: [TOOLS] }),
  namesake.entry({ clients: [clientOf(namesake, { introspect })] }),
  partner.staticEntry({
    resources: [TOOLS],
    clients: [clientOf(tools, { introspect }), { id: byKey.id, keys: byKey.keys.jwks().keys, introspect }],
  }),
];

describeOnAnyDatabase('token introspection', (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { trustedKeys, environment: ASSERTIONS_ON, clock });

  const ask = (fields: Fields, headers: Record<string, string> = agent.basic) =>
    service.post(PATH, fields, headers);
  const told = async (token: string, headers?: Record<string, string>): Promise<unknown> => {
    const answer = await ask({ token }, headers);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    return answer.json();
  };
  const redeemed = async (claims: Members = {}, client = agent, fields: Fields = {}) => {
    const iat = Math.floor(clock.nowSeconds());
    const sub = randomUUID();
    const person = { sub, email: `${sub}@acme.example`, iat, exp: iat + 60 };
    const assertion = client.assertion({ ...person, ...claims });
    const answer = await client.redeem(service, { assertion, ...fields });
    return String(((await answer.json()) as Members)['access_token']);
  };
  const exchanged = (fields: Fields = {}) => {
    const iat = Math.floor(clock.nowSeconds());
    const subject_token = partner.sign(partner.claims({ iat, exp: iat + 60 }));
    return service.accessToken({ subject_token, ...fields });
  };

  it("[D61] returns the claims of the client's own token, including its actor", async () => {
    const token = await redeemed({ scope: 'workflow:read', act: { sub: 'robot' } });
    const claims = decodeJwt(token);
    const { iss, aud, sub, iat, exp, jti } = claims;
    expect(await told(token)).toEqual({
      active: true,
      token_type: 'Bearer',
      ...{ iss, aud, sub, iat, exp, jti, client_id: 'agent', scope: 'workflow:read' },
      act: { iss: agent.idp.issuer, sub: 'robot' },
    });
    expect([iss, aud]).toEqual([BASE_URL, BASE_URL]);
  });

  it('[D61] describes to a service all tokens for it that its own entry issued', async () => {
    const token = await exchanged({ resource: TOOLS });
    expect(await told(token, tools.basic)).toMatchObject({
      active: true,
      aud: TOOLS,
      client_id: partner.issuer,
    });
    // The entry of another client lists the service, too.
    expect(await told(token)).toEqual(INACTIVE);
  });

  it.each<[string, () => Promise<string>, Record<string, string>]>([
    ['a token of another client', () => redeemed({}, silent), agent.basic],
    ['a token of its namesake at another company', () => redeemed(), namesake.basic],
    ['a token of a partner for the instance', () => exchanged(), tools.basic],
    [
      'a token for a service, where no entry of the client lists it',
      () => exchanged({ resource: TOOLS }),
      namesake.basic,
    ],
    ['an external token', () => Promise.resolve(partner.sign()), tools.basic],
    ['a token with another signature', async () => `${(await redeemed()).slice(0, -8)}AAAAAAAA`, agent.basic],
    ['anything', () => Promise.resolve('x'), agent.basic],
  ])('[D61] reveals about %s only that it is not active', async (_name, make, headers) =>
    expect(await told(await make(), headers)).toEqual(INACTIVE),
  );

  it.each<[string, (token: string, sub: string) => Promise<unknown>, IdJagClient?]>([
    ['it was ended', (token) => service.revoke(token, agent.basic)],
    ['its user was disabled', (_, sub) => changeUser(service, sub, { enabled: false })],
    ['its user was signed out', (_, sub) => service.part(SignOutService).signOutEverywhere(sub, 'sign-out')],
    ['it has expired', () => Promise.resolve(clock.advance(900))],
    ['its key was revoked', () => service.part(RevocationService).revoke(namesake.idp, 'revoke'), namesake],
  ])('[D61] reports a token as inactive as soon as %s', async (_name, end, client = agent) => {
    const token = await redeemed({}, client);
    expect(await told(token, client.basic)).toMatchObject({ active: true });
    await end(token, decodeJwt(token).sub ?? '');
    expect(await told(token, client.basic)).toEqual(INACTIVE);
  });

  it('[5.2.5] accepts a JWT of a client once', async () => {
    const iat = Math.floor(clock.nowSeconds());
    const client_assertion = byKey.jwt({ iat, exp: iat + 60 });
    const fields = { token: 'x', client_assertion_type: CLIENT_ASSERTION, client_assertion };
    expect((await ask(fields, {})).status).toBe(200);
    const again = await ask(fields, {});
    expect([again.status, await again.json()]).toMatchObject([401, { error: 'invalid_client' }]);
  });

  it.each<[string, number, string, string, Record<string, string>]>([
    ['no credentials', 401, 'invalid_client', 'client_credential_missing', {}],
    ['a client that may not ask', 403, 'unauthorized_client', 'introspection_not_allowed', silent.basic],
  ])('[D61] refuses %s with %i, and records only that', async (_name, status, error, reason, headers) => {
    const token = await redeemed();
    await told(token);
    const before = await census(service);
    const answer = await ask({ token }, headers);
    expect([answer.status, await answer.json()]).toMatchObject([status, { error }]);
    expect(answer.headers.has('www-authenticate')).toBe(status === 401);
    expect(await eventsOf(service, answer)).toMatchObject([
      { name: 'svc.audit.token-exchange.introspection-refused', payload: { reason } },
    ]);
    expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 1 });
    await told(token);
    expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 1 });
    expect(service.logText).not.toContain(token);
  });
});

describeOnAnyDatabase('[D61] introspections of one address', (database) => {
  it('[D79] are recorded ten times a minute if they are refused, and all counted', async () => {
    await withService(database, { trustedKeys, environment: ASSERTIONS_ON }, async (service) => {
      const authorization = `Basic ${btoa('agent:x')}`;
      const recorded = async () => (await census(service)).auditEvents;
      const before = await recorded();
      for (let time = 0; time < 12; time += 1)
        expect((await service.post(PATH, { token: 'x' }, { authorization })).status).toBe(401);
      expect((await recorded()) - before).toBe(10);
      expect(service.logText.split('an introspection was refused')).toHaveLength(11);
      const labels = { flow: 'introspection', reason: 'client_credential_invalid' };
      expect((await MetricSamples.read(service)).value('svc_request_refusals_total', labels)).toBe(12);
    });
  });
});
