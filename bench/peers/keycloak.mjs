// Keycloak with its JWT authorization grant (RFC 7523), JWT access tokens (ES256) and its data in PostgreSQL.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callJson } from '../support/json-calls.mjs';
import { RESIDENTS } from '../support/residents.mjs';

const LIFETIME_SECONDS = 60;
/** A cold Keycloak may need more than a minute for a round. It accepts tokens with a lifetime of at most 300 seconds. */
const ASSERTION_SECONDS = 240;
const REALM = 'bench';
const PARTNER_ALIAS = 'partner';
const CLIENT_ID = 'bench';
/** Keycloak cannot change these options after its build. */
const BUILD_OPTIONS = ['--db=postgres', '--features=jwt-authorization-grant'];

const run = promisify(execFile);

/** The reason why Keycloak cannot be started; undefined if it can. */
export function keycloakIsMissing({ KEYCLOAK_HOME: home }) {
  const isThere = home && existsSync(join(home, 'bin', 'kc.sh'));
  return isThere ? undefined : 'needs KEYCLOAK_HOME: the folder of an unpacked Keycloak 26.5 or newer.';
}

export async function startKeycloak(workbench) {
  const database = await workbench.newEmptyDatabase();
  const surroundings = await workbench.surroundingsOf('keycloak');
  const { port, folder, origin } = surroundings;
  // The build changes Keycloak's folder, so a copy is built.
  const home = join(folder, 'keycloak');
  cpSync(process.env.KEYCLOAK_HOME, home, { recursive: true, verbatimSymlinks: true });
  const command = join(home, 'bin', 'kc.sh');
  const administrator = { username: 'bench', password: randomBytes(16).toString('hex') };
  const environment = environmentOf(workbench.postgres, { database, port, administrator });
  workbench.tell('building keycloak');
  await run(command, ['build', ...BUILD_OPTIONS], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
  });
  const program = { command, args: ['start', '--optimized'], environment, folder, origin };
  const server = await workbench.start('keycloak', { ...program, readyPath: '/realms/master' });
  const secret = randomBytes(16).toString('hex');
  await makeRealm(origin, administrator, realmOf(workbench.partner, secret));
  const base = `/realms/${REALM}/protocol/openid-connect`;
  return {
    name: 'keycloak',
    version: versionOf(home),
    server,
    database,
    hasOwnSchema: true,
    exchangePath: `${base}/token`,
    keySetPath: `${base}/certs`,
    takesAssertions: true,
    lifetimeSeconds: ASSERTION_SECONDS,
    claims: { aud: `${origin}/realms/${REALM}` },
    fields: { client_id: CLIENT_ID, client_secret: secret },
    accessTokenType: 'JWT',
    clientClaim: 'azp',
  };
}

function environmentOf({ port: databasePort, password }, { database, port, administrator }) {
  const { JAVA_HOME: javaHome } = process.env;
  return {
    ...(javaHome && { JAVA_HOME: javaHome }),
    // A single process needs no distributed cache.
    KC_CACHE: 'local',
    KC_DB_URL: `jdbc:postgresql://127.0.0.1:${databasePort}/${database}`,
    KC_DB_USERNAME: 'owner',
    KC_DB_PASSWORD: password,
    KC_HTTP_ENABLED: 'true',
    KC_HTTP_HOST: '127.0.0.1',
    KC_HTTP_PORT: String(port),
    KC_HOSTNAME_STRICT: 'false',
    KC_BOOTSTRAP_ADMIN_USERNAME: administrator.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: administrator.password,
  };
}

async function makeRealm(origin, { username, password }, realm) {
  const login = { grant_type: 'password', client_id: 'admin-cli', username, password };
  const { access_token: token } = await callJson(
    `${origin}/realms/master/protocol/openid-connect/token`,
    new URLSearchParams(login),
  );
  await callJson(`${origin}/admin/realms`, realm, { authorization: `Bearer ${token}` });
}

/** The realm has the partner, a client that may use the grant, the linked users, and a key for the service's algorithm. */
function realmOf(partner, secret) {
  return {
    realm: REALM,
    enabled: true,
    accessTokenLifespan: LIFETIME_SECONDS,
    identityProviders: [identityProvider(partner)],
    clients: [client(secret)],
    users: RESIDENTS.map(userOf),
    components: { 'org.keycloak.keys.KeyProvider': [SIGNING_KEY] },
  };
}

/** Keycloak requires the URLs, but no login uses them. */
function identityProvider(partner) {
  const signer = partner.signers.ES256;
  return {
    alias: PARTNER_ALIAS,
    providerId: 'oidc',
    enabled: true,
    config: {
      issuer: partner.issuer,
      clientId: 'unused',
      clientSecret: 'unused',
      authorizationUrl: `${partner.issuer}/authorize`,
      tokenUrl: `${partner.issuer}/token`,
      validateSignature: 'true',
      useJwksUrl: 'false',
      publicKeySignatureVerifier: signer.publicKeyPem(),
      publicKeySignatureVerifierKeyId: signer.kid,
      jwtAuthorizationGrantEnabled: 'true',
      jwtAuthorizationGrantAssertionSignatureAlg: 'ES256',
      jwtAuthorizationGrantAssertionReuseAllowed: 'false',
      jwtAuthorizationGrantLimitAccessTokenExp: 'true',
    },
  };
}

/** Only clients with a secret may use the grant. The scope `basic` adds the subject to access tokens. */
function client(secret) {
  return {
    clientId: CLIENT_ID,
    secret,
    publicClient: false,
    standardFlowEnabled: false,
    directAccessGrantsEnabled: false,
    fullScopeAllowed: false,
    defaultClientScopes: ['basic'],
    optionalClientScopes: [],
    protocolMappers: [AUDIENCE],
    attributes: {
      'access.token.signed.response.alg': 'ES256',
      'oauth2.jwt.authorization.grant.enabled': 'true',
      'oauth2.jwt.authorization.grant.idp': PARTNER_ALIAS,
    },
  };
}

/** Adds an audience to access tokens, which otherwise have none. */
const AUDIENCE = {
  name: 'audience',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { 'included.custom.audience': 'https://api.peer.example', 'access.token.claim': 'true' },
};

const SIGNING_KEY = {
  name: 'bench',
  providerId: 'ecdsa-generated',
  config: { ecdsaEllipticCurveKey: ['P-256'], active: ['true'], enabled: ['true'], priority: ['100'] },
};

function userOf({ sub, email }) {
  const link = { identityProvider: PARTNER_ALIAS, userId: sub, userName: sub };
  return { username: sub, email, emailVerified: true, enabled: true, federatedIdentities: [link] };
}

/** Reads the version from a file with a line such as "Keycloak - Version 26.7.3". */
function versionOf(home) {
  const file = join(home, 'version.txt');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return /(\d+\.\d+\S*)/.exec(text)?.[1] ?? '0.0';
}
