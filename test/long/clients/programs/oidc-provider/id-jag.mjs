// oidc-provider issues no ID-JAGs by itself: this adds the grant (draft-ietf-oauth-identity-assertion-authz-grant §4.3).
import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { errors } from 'oidc-provider';
import { issuer, privateKey, provider, publicKey } from './provider.mjs';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
/** What the company lets this program do, whatever it asks for. */
const SCOPE = 'workflow:read';

async function issue(context) {
  const { client, params } = context.oidc;
  if (params.requested_token_type !== ID_JAG) throw new errors.InvalidRequest('only ID-JAGs are issued');
  const idToken = await jwtVerify(params.subject_token, publicKey, { issuer, audience: client.clientId });
  const person = idToken.payload.sub;
  const claims = {
    client_id: process.env.CLIENT_ID_AT_INSTANCE,
    resource: params.resource,
    scope: SCOPE,
    email: `${person}@acme.example`,
    email_verified: true,
  };
  const assertion = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: 'provider', typ: 'oauth-id-jag+jwt' })
    .setIssuer(issuer)
    .setSubject(person)
    .setAudience(params.audience)
    .setIssuedAt()
    .setExpirationTime('5m')
    .setJti(randomUUID())
    .sign(privateKey);
  context.body = {
    issued_token_type: ID_JAG,
    access_token: assertion,
    token_type: 'N_A',
    scope: SCOPE,
    expires_in: 300,
  };
}

const parameters = [
  'requested_token_type',
  'audience',
  'resource',
  'scope',
  'subject_token',
  'subject_token_type',
];
provider.registerGrantType(TOKEN_EXCHANGE, issue, parameters);
