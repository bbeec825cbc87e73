// An agent whose person has signed in at the company's provider: the MCP client's own cross-app access provider does the rest.
import {
  auth,
  createPrivateKeyJwtAuth,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  DpopSession,
  extractWWWAuthenticateParams,
  withDpopFromProvider,
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

function newProvider() {
  const made = new CrossAppAccessProvider({
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
    made.addClientAuthentication = createPrivateKeyJwtAuth({
      issuer: ID_AT_INSTANCE,
      subject: ID_AT_INSTANCE,
      privateKey: JSON.parse(KEY_AT_INSTANCE),
      alg: 'ES256',
    });
  return made;
}
const provider = newProvider();
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

// With a key of its own, by the same client: it finds by itself that a nonce is asked for.
const proving = newProvider();
const session = await DpopSession.create();
proving.dpop = () => session;
const proved = await auth(proving, { serverUrl: INSTANCE, resourceMetadataUrl, scope: needed });
if (proved !== 'AUTHORIZED') throw new Error(proved);
print(`the MCP client redeems an assertion for a token of type ${proving.tokens().token_type}`);
const answer = await withDpopFromProvider(proving)(fetch)(`${INSTANCE}/api/v1/workflows`);
print(`the API answers ${answer.status} to its proof`);
