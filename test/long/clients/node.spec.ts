// Third-party clients and verifiers for Node.js against the service, by discovery and their ordinary calls.
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import type { Partner } from '../../../demo/partner.js';
import { describeOnAnyDatabase, TestDatabase } from '../../support/databases.js';
import type { TestService } from '../../support/test-service.js';
import { GRANT_TYPE } from '../../support/test-service.js';
import { startReachable } from './support/reachable-service.js';

const JWT = 'urn:ietf:params:oauth:token-type:jwt';
/** The tests have no certificate; everything else is as these libraries do it by themselves. */
const INSECURE = { [oauth.allowInsecureRequests]: true };
const ALGORITHMS = ['oauth2', 'oidc'] as const;

describeOnAnyDatabase('[D58] Node.js clients', (database) => {
  let service: TestService;
  let partner: Partner;
  let base: URL;

  beforeAll(async () => {
    const started = await startReachable(database);
    ({ service, partner } = started);
    base = new URL(started.baseUrl);
  });
  afterAll(() => service?.stop());

  const parameters = () => ({
    subject_token: partner.sign(),
    subject_token_type: JWT,
    actor_token: partner.sign(partner.claims({ sub: 'actor' })),
    actor_token_type: JWT,
    scope: 'workflows',
  });

  describe('openid-client', () => {
    const authentications: [string, oidc.ClientAuth][] = [
      ['no authentication', oidc.None()],
      ['a secret in the header', oidc.ClientSecretBasic('a secret: of +nobody')],
      ['a secret in the form', oidc.ClientSecretPost('a secret')],
    ];
    const pairs = ALGORITHMS.flatMap((algorithm) =>
      authentications.map(([name, authentication]) => ({ algorithm, name, authentication })),
    );

    it.each(pairs)(
      '[D58] finds the token endpoint by $algorithm, exchanges with $name, and calls the API',
      async ({ algorithm, authentication }) => {
        const options = { algorithm, execute: [oidc.allowInsecureRequests] };
        const config = await oidc.discovery(base, 'a-client', undefined, authentication, options);
        const tokens = await oidc.genericGrantRequest(config, GRANT_TYPE, parameters());
        expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: expect.any(Number) });
        const api = new URL('/api/v1/workflows', base);
        const answer = await oidc.fetchProtectedResource(config, tokens.access_token, api, 'GET');
        expect(answer.status).toBe(200);
      },
    );

    it('[7.5] reads the error for a token that has been used', async () => {
      const options = { execute: [oidc.allowInsecureRequests] };
      const config = await oidc.discovery(base, 'a-client', undefined, oidc.None(), options);
      const once = { subject_token: partner.sign(), subject_token_type: JWT };
      await oidc.genericGrantRequest(config, GRANT_TYPE, once);
      await expect(oidc.genericGrantRequest(config, GRANT_TYPE, once)).rejects.toMatchObject({
        error: 'invalid_grant',
        error_description: 'Token exchange failed',
        status: 400,
      });
    });
  });

  describe('oauth4webapi', () => {
    const client = { client_id: 'a-client' };
    const discovered = async (algorithm: (typeof ALGORITHMS)[number]) =>
      oauth.processDiscoveryResponse(base, await oauth.discoveryRequest(base, { algorithm, ...INSECURE }));
    const exchange = async (server: oauth.AuthorizationServer) => {
      const request = oauth.genericTokenEndpointRequest;
      const answer = await request(server, client, oauth.None(), GRANT_TYPE, parameters(), INSECURE);
      return oauth.processGenericTokenEndpointResponse(server, client, answer);
    };

    it.each(ALGORITHMS)('[D58] exchanges and verifies, with everything found by %s', async (algorithm) => {
      const server = await discovered(algorithm);
      const { access_token: token } = await exchange(server);
      const call = new Request(base, { headers: { authorization: `Bearer ${token}` } });
      const claims = await oauth.validateJwtAccessToken(server, call, base.origin, INSECURE);
      expect(claims).toMatchObject({ iss: base.origin, client_id: partner.issuer });
    });

    it('[D58] finds the token issuer from a 401 of the API, and returns with a token', async () => {
      const api = new URL('/api/v1/workflows', base);
      const refused = await oauth
        .protectedResourceRequest('none', 'GET', api, undefined, undefined, INSECURE)
        .catch((error: unknown) => error as oauth.WWWAuthenticateChallengeError);
      const { cause } = refused as oauth.WWWAuthenticateChallengeError;
      expect(cause[0]?.parameters['resource_metadata']).toBe(
        `${base.origin}/.well-known/oauth-protected-resource`,
      );
      const told = await oauth.resourceDiscoveryRequest(base, INSECURE);
      const resource = await oauth.processResourceDiscoveryResponse(base, told);
      expect(resource.authorization_servers).toEqual([base.origin]);
      const { access_token: token } = await exchange(await discovered('oauth2'));
      const answer = await oauth.protectedResourceRequest(token, 'GET', api, undefined, undefined, INSECURE);
      expect(answer.status).toBe(200);
    });
  });

  describe.each(['false', 'true'])('[D140] with DPoP, nonces: %s', (nonces) => {
    let proving: TestService;
    let issuer: Partner;
    let address: URL;
    const own = TestDatabase.ofAnyKind();

    beforeAll(async () => {
      await own.create();
      const started = await startReachable(own, { SVC_DPOP_NONCE: nonces });
      [proving, issuer, address] = [started.service, started.partner, new URL(started.baseUrl)];
    });
    afterAll(async () => {
      await proving?.stop();
      await own.remove();
    });
    const asked = () => ({ subject_token: issuer.sign(), subject_token_type: JWT });
    const api = () => new URL('/api/v1/workflows?limit=1', address);

    it('[D140] openid-client exchanges and calls the API', async () => {
      const options = { execute: [oidc.allowInsecureRequests] };
      const config = await oidc.discovery(address, 'a-client', undefined, oidc.None(), options);
      const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair());
      const tokens = await oidc.genericGrantRequest(config, GRANT_TYPE, asked(), { DPoP });
      expect(tokens.token_type).toBe('dpop');
      const call = (given: object) =>
        oidc.fetchProtectedResource(config, tokens.access_token, api(), 'GET', null, undefined, given);
      for (let times = 0; times < 2; times += 1) expect((await call({ DPoP })).status).toBe(200);
      // As Bearer, which is what a thief would try.
      await expect(call({})).rejects.toMatchObject({ status: 401 });
    });

    it('[D140] oauth4webapi exchanges and calls the API', async () => {
      const client: oauth.Client = { client_id: 'a-client' };
      const server = await oauth.processDiscoveryResponse(
        address,
        await oauth.discoveryRequest(address, { algorithm: 'oauth2', ...INSECURE }),
      );
      expect(server.dpop_signing_alg_values_supported).toContain('ES256');
      const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
      const options = { DPoP, ...INSECURE };
      const parameters = asked();
      const exchange = async () => {
        const request = oauth.genericTokenEndpointRequest;
        const answer = await request(server, client, oauth.None(), GRANT_TYPE, parameters, options);
        return oauth.processGenericTokenEndpointResponse(server, client, answer);
      };
      // If a nonce is required, the request is repeated with the same token, as the library's documentation says.
      const again = (error: unknown) => {
        if (oauth.isDPoPNonceError(error)) return exchange();
        throw error;
      };
      const { access_token: token, token_type: type } = await exchange().catch(again);
      expect(type).toBe('dpop');
      const answer = await oauth.protectedResourceRequest(token, 'GET', api(), undefined, undefined, options);
      expect(answer.status).toBe(200);
    });
  });

  it('[D29] jose verifies an access token with the published keys', async () => {
    const token = await service.accessToken(parameters());
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', base));
    const expected = { issuer: base.origin, audience: base.origin, typ: 'at+jwt' };
    const { payload } = await jwtVerify(token, keys, expected);
    expect(payload).toHaveProperty('act.sub');
  });
});
