// Discovery from the base address: the issuer of access tokens, its endpoints, and the keys that verify them.
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Partner } from '../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../demo/signing-key.js';
import { SCOPES } from '../../src/workspace/rights/rights.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const SERVER = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];
const RESOURCE = '/.well-known/oauth-protected-resource';
const KEY_SET = '/.well-known/jwks.json';

describeOnAnyDatabase('[D58] metadata', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });

  it.each(SERVER)('[D58] %s reports the available endpoints and no others', async (path) => {
    expect(await json(service, path)).toEqual({
      issuer: BASE_URL,
      token_endpoint: `${BASE_URL}/rest/auth/oauth/token`,
      revocation_endpoint: `${BASE_URL}/rest/auth/oauth/revoke`,
      introspection_endpoint: `${BASE_URL}/rest/auth/oauth/introspect`,
      jwks_uri: `${BASE_URL}${KEY_SET}`,
      scopes_supported: SCOPES,
      grant_types_supported: ['urn:ietf:params:oauth:grant-type:token-exchange'],
      response_types_supported: ['none'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: [
        'none',
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
      ],
      revocation_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
      introspection_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
      ],
      introspection_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
      dpop_signing_alg_values_supported: SIGNING_ALGORITHMS,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      protected_resources: [BASE_URL],
    });
  });

  it('[D58] the metadata of the API report its authorization server and how to present tokens', async () => {
    expect(await json(service, RESOURCE)).toEqual({
      resource: BASE_URL,
      resource_name: 'Instance API',
      authorization_servers: [BASE_URL],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: SIGNING_ALGORITHMS,
      resource_documentation: `${BASE_URL}/api/v1/docs`,
    });
  });

  it('[D58] an issued token has the issuer of the metadata and a key of their key set', async () => {
    const { token_endpoint: endpoint, jwks_uri: keySet, issuer } = await json(service, SERVER[0] ?? '');
    const answer = await service.post(new URL(String(endpoint)).pathname, {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: partner.sign(),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const { kid, alg } = decodeProtectedHeader(token);
    const { keys } = await json(service, new URL(String(keySet)).pathname);
    expect(decodeJwt(token)).toMatchObject({ iss: issuer, aud: issuer });
    expect(keys).toContainEqual(expect.objectContaining({ kid, alg }));
  });

  it.each([
    ['/rest/me', ''],
    ['/api/v1/workflows', 'scope="workflow:read", '],
  ])('[D58] a 401 of %s has the address of the metadata and the challenge %j', async (path, scope) => {
    const challengeTo = async (headers = {}) =>
      (await service.fetch(path, { headers })).headers.get('www-authenticate');
    const dpop = `DPoP algs="${SIGNING_ALGORITHMS.join(' ')}"`;
    const metadata = `resource_metadata="${BASE_URL}${RESOURCE}"`;
    const plain = `Bearer ${scope}${metadata}, ${dpop}`;
    expect(await challengeTo()).toBe(plain);
    // RFC 6750 §3.1: a challenge to an unsupported scheme has no error code.
    for (const authorization of ['Basic dTpw', 'DPoPx y', 'Bearerx y'])
      expect(await challengeTo({ authorization })).toBe(plain);
    for (const authorization of ['Bearer x', 'bearer', 'BEARER a b'])
      expect(await challengeTo({ authorization })).toBe(
        plain.replace('Bearer', 'Bearer error="invalid_token",'),
      );
    for (const authorization of ['DPoP x', 'dpop', 'DPOP a b'])
      expect(await challengeTo({ authorization })).toBe(
        `${dpop.replace('DPoP ', `DPoP error="invalid_token", ${scope}`)}, ${metadata}`,
      );
  });

  it('[D57] CORS allows pages of every origin to read metadata without credentials, and no other path', async () => {
    const headers = { origin: 'https://spa.example' };
    for (const path of [...SERVER, RESOURCE, KEY_SET]) {
      const answer = await service.fetch(path, { headers });
      expect([path, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
        path,
        200,
        '*',
      ]);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
      expect(answer.headers.get('pragma')).toBeNull();
      expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
      const asked = { ...headers, 'access-control-request-headers': 'mcp-protocol-version' };
      const preflight = await service.fetch(path, { method: 'OPTIONS', headers: asked });
      const granted = ['origin', 'methods', 'headers'].map((name) =>
        preflight.headers.get(`access-control-allow-${name}`),
      );
      expect([path, preflight.status, ...granted]).toEqual([path, 204, '*', 'GET, HEAD', '*']);
    }
    for (const path of ['/', '/rest/me', '/api/v1/workflows', '/api/v1/openapi.json', '/healthz'])
      expect((await service.fetch(path, { headers })).headers.get('access-control-allow-origin')).toBeNull();
  });
});

describeOnAnyDatabase('[D58] metadata without token exchange', (database) => {
  it.each([
    ['the flag is off', { SVC_ENV_FEAT_TOKEN_EXCHANGE: undefined }],
    ['there is no licence', { SVC_LICENSE: undefined, SVC_LICENSE_PUBLIC_KEY: undefined }],
    ['token exchange is switched off', { SVC_TOKEN_EXCHANGE_ENABLED: 'false' }],
  ])('[D58] if %s, the metadata report no authorization server', async (_, environment) => {
    await withService(database, { trustedKeys, environment }, expectNoServer);
  });
});

/** Neither the server's nor the API's metadata report an authorization server, and no cache may store the 404. */
async function expectNoServer(service: TestService): Promise<void> {
  for (const path of SERVER) {
    const answer = await service.fetch(path);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect(await answer.json()).toEqual({ error: 'not_found', message: 'Not found' });
  }
  expect(await json(service, RESOURCE)).not.toHaveProperty('authorization_servers');
  expect(await json(service, RESOURCE)).toHaveProperty('resource', BASE_URL);
}

async function json(service: TestService, path: string): Promise<Record<string, unknown>> {
  const answer = await service.fetch(path);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Record<string, unknown>;
}
