// Routes of a host behind `RequireScopes`, and what the module publishes of the tokens that they take.
import { decodeProtectedHeader } from 'jose';
import { Partner } from '../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../demo/signing-key.js';
import { DpopClient } from '../support/dpop-client.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import {
  BASE_URL,
  exchangeForm,
  HostProcess,
  newPartner,
  ofParts,
  optionsOf,
} from './support/host-process.js';

const ALGS = `algs="${SIGNING_ALGORITHMS.join(' ')}"`;
const DPOP = `DPoP ${ALGS}`;
const METADATA = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource"`;

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const limited = Partner.create({ issuer: 'https://limited.example', audience: BASE_URL });
  const host = HostProcess.forBlock(() => {
    const options = optionsOf(partner, { ...kind, databaseUrl: database().url });
    const trustedKeys = JSON.stringify([partner.staticEntry(), limited.staticEntry({ scopes: ['orders'] })]);
    return { ...options, settings: { ...options.settings, trustedKeys } };
  });

  const accessToken = async (subjectToken: string) =>
    String((await host.exchange(subjectToken)).body['access_token']);

  it('challenges a call without a Bearer credential or with an invalid one (RFC 6750)', async () => {
    for (const headers of [undefined, { authorization: 'Basic eDp5' }]) {
      const without = await host.call('/api/me', { headers });
      expect([without.status, without.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer scope="profile", ${METADATA}, ${DPOP}`,
      ]);
    }
    for (const authorization of ['Bearer x', `Bearer ${partner.sign()}`]) {
      const answer = await host.call('/api/me', { headers: { authorization } });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer error="invalid_token", scope="profile", ${METADATA}, ${DPOP}`,
      ]);
    }
    expect(host.output).toContain('an API call was refused');
  });

  it("passes the user to the route, and refuses a token without the route's scope", async () => {
    const me = await host.apiMe(await accessToken(partner.sign()));
    expect([me.status, me.body]).toMatchObject([200, { subject: { email: 'customer-1@partner.example' } }]);
    const answer = await host.apiMe(await accessToken(limited.sign()));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="profile", ${METADATA}`,
    ]);
  });

  it('[D140] accepts a bound token with a proof for each call by the public address, and never as Bearer', async () => {
    const client = new DpopClient();
    const claims = { htu: `${BASE_URL}/rest/auth/oauth/token` };
    const exchange = async (form: string) =>
      host.post('/rest/auth/oauth/token', form, { dpop: client.proof({ claims }) });
    const { body } = await exchange(exchangeForm(limited.sign()));
    const token = String(body['access_token']);
    const headersOf = () => client.headersFor(token, '/api/me', { claims: { htu: `${BASE_URL}/api/me` } });
    const once = headersOf();
    const answers = [];
    for (const headers of [once, once, headersOf(), { authorization: `Bearer ${token}` }])
      answers.push(await host.call('/api/me?x', { headers }));
    // The route asks for a scope that the token lacks: so far comes who has proved the key.
    expect(answers.map(({ status }) => status)).toEqual([403, 401, 403, 401]);
    expect(answers.map((answer) => answer.headers.get('www-authenticate'))).toEqual([
      `DPoP error="insufficient_scope", scope="profile", ${ALGS}, ${METADATA}`,
      `DPoP error="invalid_dpop_proof", scope="profile", ${ALGS}, ${METADATA}`,
      `DPoP error="insufficient_scope", scope="profile", ${ALGS}, ${METADATA}`,
      `Bearer error="invalid_token", scope="profile", ${METADATA}, ${DPOP}`,
    ]);
    const whole = await exchange(exchangeForm(partner.sign()));
    const bound = String(whole.body['access_token']);
    const me = await host.call('/api/me', {
      headers: client.headersFor(bound, '/api/me', { claims: { htu: `${BASE_URL}/api/me` } }),
    });
    expect([me.status, me.body]).toMatchObject([200, { subject: { email: 'customer-1@partner.example' } }]);
  });

  it('refuses a token that its holder has ended, and a token of a locked user', async () => {
    const [ended, locked] = [await accessToken(partner.sign()), await accessToken(partner.sign())];
    await host.post('/rest/auth/oauth/revoke', new URLSearchParams({ token: ended }).toString());
    expect([(await host.apiMe(ended)).status, (await host.apiMe(locked)).status]).toEqual([401, 200]);
    await database().query('UPDATE product_user SET active = false');
    expect((await host.apiMe(locked)).status).toBe(401);
    await database().query('UPDATE product_user SET active = true');
  });

  it("publishes its tokens' issuer, endpoints and keys", async () => {
    const server = await host.call('/.well-known/oauth-authorization-server');
    expect([server.status, server.headers.get('cache-control'), server.headers.get('pragma')]).toEqual([
      200,
      'public, max-age=3600',
      null,
    ]);
    expect(server.headers.get('access-control-allow-origin')).toBe('*');
    // e2e/metadata.spec.ts has all members.
    expect(server.body).toMatchObject({
      issuer: BASE_URL,
      token_endpoint: `${BASE_URL}/rest/auth/oauth/token`,
      jwks_uri: `${BASE_URL}/.well-known/jwks.json`,
      grant_types_supported: ['urn:ietf:params:oauth:grant-type:token-exchange'],
      protected_resources: [BASE_URL],
    });
    expect(server.body).not.toHaveProperty('scopes_supported');
    expect((await host.call('/.well-known/openid-configuration')).body).toEqual(server.body);
    const resource = await host.call('/.well-known/oauth-protected-resource');
    expect(resource.body).toEqual({
      resource: BASE_URL,
      authorization_servers: [BASE_URL],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: SIGNING_ALGORITHMS,
    });
    const keySet = await host.call('/.well-known/jwks.json');
    const { kid } = decodeProtectedHeader(await accessToken(partner.sign()));
    expect(keySet.body['keys']).toContainEqual(expect.objectContaining({ kid, alg: 'ES256' }));
  });
});

describeOnEmptyDatabase('a host that publishes nothing', (database) => {
  const host = HostProcess.forBlock(() =>
    optionsOf(newPartner(), { server: 'express', parts: 'own', databaseUrl: database().url }),
  );

  it('leaves its well-known paths alone, and lists none in challenges', async () => {
    for (const name of ['oauth-authorization-server', 'oauth-protected-resource', 'jwks.json'])
      expect((await host.call(`/.well-known/${name}`)).status).toBe(404);
    expect((await host.call('/api/me')).headers.get('www-authenticate')).toBe(
      `Bearer scope="profile", ${DPOP}`,
    );
  });
});
