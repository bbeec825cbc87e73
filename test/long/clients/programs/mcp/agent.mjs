// An agent whose person has signed in at the company's provider: the MCP client's own cross-app access provider does the rest.
import {
  CrossAppAccessProvider,
  auth,
  createPrivateKeyJwtAuth,
  discoverAndRequestJwtAuthGrant,
  extractWWWAuthenticateParams,
} from '@modelcontextprotocol/client';

const {
  INSTANCE,
  PROVIDER,
  ID_TOKEN,
  ID_AT_PROVIDER,
  SECRET_AT_PROVIDER,
  ID_AT_INSTANCE,
  SECRET_AT_INSTANCE,
  KEY_AT_INSTANCE,
} = process.env;
const print = (what) => console.log(`ok: ${what}`);

const provider = new CrossAppAccessProvider({
  clientId: ID_AT_INSTANCE,
  clientSecret: SECRET_AT_INSTANCE,
  expectedIssuer: INSTANCE,
  assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
    const grant = await discoverAndRequestJwtAuthGrant({
      idpUrl: PROVIDER,
      audience: authorizationServerUrl,
      resource: resourceUrl,
      idToken: ID_TOKEN,
      clientId: ID_AT_PROVIDER,
      clientSecret: SECRET_AT_PROVIDER,
      scope,
      fetchFn,
    });
    return grant.jwtAuthGrant;
  },
});
// In place of a secret, by the extension point that every provider of this client has.
if (KEY_AT_INSTANCE !== undefined)
  provider.addClientAuthentication = createPrivateKeyJwtAuth({
    issuer: ID_AT_INSTANCE,
    subject: ID_AT_INSTANCE,
    privateKey: JSON.parse(KEY_AT_INSTANCE),
    alg: 'ES256',
  });
const refused = await fetch(`${INSTANCE}/api/v1/workflows`);
const { resourceMetadataUrl, scope: needed } = extractWWWAuthenticateParams(refused);
print(`the challenge asks for ${needed}`);
const outcome = await auth(provider, { serverUrl: INSTANCE, resourceMetadataUrl, scope: needed });
if (outcome !== 'AUTHORIZED') throw new Error(outcome);
const { access_token: token, scope } = provider.tokens();
print(`the MCP client redeems an assertion for ${scope}`);
const headers = { authorization: `Bearer ${token}` };
const listed = await fetch(`${INSTANCE}/api/v1/workflows`, { headers });
const { data } = await listed.json();
print(`the API lists ${data.map(({ name }) => name).join()}`);
