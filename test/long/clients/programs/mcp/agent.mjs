// An agent whose person has signed in at the company's provider: the MCP client's own cross-app access provider does the rest.
import { CrossAppAccessProvider, auth, discoverAndRequestJwtAuthGrant } from '@modelcontextprotocol/client';

const {
  INSTANCE,
  PROVIDER,
  ID_TOKEN,
  ID_AT_PROVIDER,
  SECRET_AT_PROVIDER,
  ID_AT_INSTANCE,
  SECRET_AT_INSTANCE,
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
const outcome = await auth(provider, { serverUrl: INSTANCE });
if (outcome !== 'AUTHORIZED') throw new Error(outcome);
const { access_token: token, scope } = provider.tokens();
print(`the MCP client redeems an assertion for ${scope}`);
const headers = { authorization: `Bearer ${token}` };
const listed = await fetch(`${INSTANCE}/api/v1/workflows`, { headers });
const { data } = await listed.json();
print(`the API lists ${data.map(({ name }) => name).join()}`);
