// What the draft of identity assertions and the MCP extension ask of an authorization server, by their sections, from outside.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ASSERTIONS_ON, IdJagClient, JWT_BEARER, sha256 } from '../support/id-jag-client.js';
import type { Fields } from '../support/test-service.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const MCP_SERVER = 'https://mcp.example/tools';
const OTHER = 'https://other.example';

const agent = new IdJagClient('agent');
const neighbour = new IdJagClient('neighbour', agent.idp.issuer);
const impostor = new IdJagClient('agent', agent.idp.issuer);
const lines = (text: string) => text.trim().split('\n');

describeOnAnyDatabase('identity assertions by the standards', (database) => {
  const clients = [agent, neighbour].map(({ id, secret }) => ({ id, secretHash: sha256(secret) }));
  const entry = agent.entry({
    clients,
    scopes: ['workflow:read', 'workflow:write'],
    resources: [MCP_SERVER],
  });
  const service = TestService.forBlock(database, { trustedKeys: [entry], environment: ASSERTIONS_ON });

  const redeem = async (claims: Members = {}, fields: Fields = {}, header: Members = {}) => {
    const answer = await agent.redeem(service, { assertion: agent.assertion(claims, header), ...fields });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Members };
  };
  const now = () => Math.floor(Date.now() / 1000);

  const REQUIRED = ['iss', 'sub', 'aud', 'client_id', 'jti', 'exp', 'iat'];

  it.each<[section: string, requirement: string, claims: Members, header?: Members]>([
    ...REQUIRED.map((name): [string, string, Members] => [
      '§3.1',
      `${name} is required`,
      { [name]: undefined },
    ]),
    ['§4.4.1', 'typ must be oauth-id-jag+jwt', {}, { typ: 'JWT' }],
    ['§4.4.1', 'aud must be the issuer of this server', { aud: OTHER }],
    ['§4.4.1', 'aud must have one element', { aud: [BASE_URL, OTHER] }],
    ['§4.4.1', 'client_id must be the authenticated client', { client_id: neighbour.id }],
    [
      '§4.4.1',
      'authorization_details are processed, or refused as here',
      { authorization_details: [{ type: 'x' }] },
    ],
    ['§3.1', 'aud_sub is an account of this server', { aud_sub: 'nobody' }],
    ['§3.1', 'tenant and aud_tenant are not passed over', { tenant: 'acme' }],
    ['§9', 'a bound assertion needs a proof', { cnf: { jkt: 'x' } }],
    ['RFC 7521 §5.2', 'an expired assertion is refused', { iat: now() - 100, exp: now() - 1 }],
    ['MCP §7.4.1', 'alg none is refused', {}, { alg: 'none' }],
    ['MCP §7.6.2', 'resource must be a registered one', { resource: OTHER }],
    ['MCP §7.6.2', 'scope must have registered ones', { scope: 'other:read' }],
  ])('[D133] %s: %s; else invalid_grant', async (_section, _requirement, ...[claims, header]) => {
    expect(await redeem(claims, {}, header)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('[D133] MCP §7.4.1: the signature must be by a key of the provider', async () => {
    const assertion = impostor.assertion({}, { kid: agent.idp.kid });
    expect(await redeem({}, { assertion })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('[D133] §4.4.1: aud may be a list of one', async () =>
    expect((await redeem({ aud: [BASE_URL] })).status).toBe(200));

  it('[D133] §4.4.1, MCP §5.1: the answer has granted scope and resource, for which alone the token is', async () => {
    const { status, headers, body } = await redeem({
      scope: 'workflow:read other:read',
      resource: MCP_SERVER,
    });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'workflow:read', resource: MCP_SERVER });
    expect(decodeJwt(String(body['access_token']))).toMatchObject({
      aud: MCP_SERVER,
      scope: 'workflow:read',
    });
  });

  it('[D133] MCP §7.2.1: scopes are those that the request and the assertion have in common', async () => {
    const scope = 'workflow:read workflow:write';
    const narrowed = await redeem({ scope }, { scope: 'workflow:write' });
    expect(narrowed.body['scope']).toBe('workflow:write');
    const widened = await redeem({ scope: 'workflow:read' }, { scope });
    expect(widened.body['scope']).toBe('workflow:read');
  });

  it('[5.2.5] §4.4.3, MCP §7.4.2: there is no refresh token, and an assertion counts once', async () => {
    const assertion = agent.assertion();
    const first = await redeem({}, { assertion });
    expect([first.status, 'refresh_token' in first.body]).toEqual([200, false]);
    expect(await redeem({}, { assertion })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('[D133] §9.1: public clients are refused', async () => {
    const fields = { grant_type: JWT_BEARER, assertion: agent.assertion(), client_id: agent.id };
    const answer = await service.post('/rest/auth/oauth/token', fields);
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  it('[D58] §7.2, MCP §6: metadata name the profile, with its grant', async () => {
    const answer = await service.fetch('/.well-known/oauth-authorization-server');
    expect(await answer.json()).toMatchObject({
      grant_types_supported: expect.arrayContaining([JWT_BEARER]),
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    });
  });

  it('[D133] MCP §7.4.2: no assertion is in the log', async () => {
    const assertion = agent.assertion();
    await redeem({}, { assertion });
    await redeem({}, { assertion });
    for (const line of lines(service.logText)) expect(line).not.toContain(assertion.split('.')[2]);
  });
});
