// Ory Hydra with its jwt-bearer grant (RFC 7523), opaque access tokens and all data in PostgreSQL.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../dist/demo/free-port.js';
import { callJson } from '../support/json-calls.mjs';
import { RESIDENTS } from '../support/residents.mjs';

const LIFETIME_SECONDS = 60;
const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const DAY_MS = 86_400_000;

const run = promisify(execFile);

/** The reason why Hydra cannot be started; undefined if it can. */
export function hydraIsMissing({ HYDRA_BIN: binary }) {
  return binary && existsSync(binary) ? undefined : 'needs HYDRA_BIN: the path of an Ory Hydra binary.';
}

export async function startHydra(workbench) {
  const command = resolve(process.env.HYDRA_BIN);
  const database = await workbench.newEmptyDatabase();
  const { port, folder, origin } = await workbench.surroundingsOf('hydra');
  const adminPort = await freePort();
  const environment = {
    DSN: `${workbench.postgres.urlOf(database)}?sslmode=disable`,
    SECRETS_SYSTEM: randomBytes(16).toString('hex'),
    SERVE_PUBLIC_HOST: '127.0.0.1',
    SERVE_PUBLIC_PORT: String(port),
    SERVE_ADMIN_HOST: '127.0.0.1',
    SERVE_ADMIN_PORT: String(adminPort),
    URLS_SELF_ISSUER: origin,
    TTL_ACCESS_TOKEN: `${LIFETIME_SECONDS}s`,
    SQA_OPT_OUT: 'true',
  };
  workbench.tell('making the tables of hydra');
  await run(command, ['migrate', 'sql', 'up', '--read-from-env', '--yes'], { env: environment, cwd: folder });
  // Hydra accepts an issuer without TLS only in development mode.
  const program = { command, args: ['serve', 'all', '--dev'], environment, folder, origin };
  const server = await workbench.start('hydra', { ...program, readyPath: '/health/ready' });
  const admin = `http://127.0.0.1:${adminPort}/admin`;
  await trustPartner(admin, workbench.partner);
  const { client_id: clientId } = await makeClient(admin);
  return {
    name: 'hydra',
    version: await versionOf(command),
    server,
    database,
    hasOwnSchema: true,
    exchangePath: '/oauth2/token',
    takesAssertions: true,
    claims: { aud: `${origin}/oauth2/token` },
    fields: { client_id: clientId },
    checkAccessToken: (_, token) => checkAccessToken(admin, token),
  };
}

/** Trusts the partner for any subject, because Hydra has no users of its own. */
async function trustPartner(admin, partner) {
  const [jwk] = partner.signers.ES256.jwks().keys;
  await callJson(`${admin}/trust/grants/jwt-bearer/issuers`, {
    issuer: partner.issuer,
    allow_any_subject: true,
    scope: [],
    expires_at: new Date(Date.now() + DAY_MS).toISOString(),
    jwk,
  });
}

/** The cheapest legal client authentication: none. */
function makeClient(admin) {
  return callJson(`${admin}/clients`, {
    grant_types: [JWT_BEARER_GRANT],
    token_endpoint_auth_method: 'none',
    response_types: [],
  });
}

/** Asks the server about the token, because it is opaque. */
async function checkAccessToken(admin, token) {
  const { active, sub } = await callJson(`${admin}/oauth2/introspect`, new URLSearchParams({ token }));
  assert.equal(active, true, 'hydra issued a token that it does not know');
  assert.equal(sub, RESIDENTS[0].sub, 'hydra issued a token for somebody else');
}

async function versionOf(command) {
  const { stdout } = await run(command, ['version']);
  return /^Version:\s*(\S+)/m.exec(stdout)?.[1] ?? 'unknown';
}
