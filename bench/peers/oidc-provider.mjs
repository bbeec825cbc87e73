// oidc-provider with a token-exchange grant: in memory, or with the service's durable work in PostgreSQL.
import { readFileSync } from 'node:fs';
import { RESIDENTS } from '../support/residents.mjs';

const KEY_SET_PATH = '/jwks';
const MANIFEST = new URL('../node_modules/oidc-provider/package.json', import.meta.url);

export async function startOidcProvider(workbench) {
  const subjects = RESIDENTS.map(({ sub }) => sub);
  return start(workbench, 'oidc-provider', { subjects });
}

/** Its users and rows are in a database with the service's tables. */
export async function startDurableOidcProvider(workbench) {
  const database = await workbench.newDatabase();
  const databaseUrl = workbench.postgres.urlOf(database);
  return { ...(await start(workbench, 'oidc-provider-durable', { databaseUrl })), database };
}

async function start(workbench, name, settings) {
  const server = await workbench.startProgram('oidc-provider', settings, KEY_SET_PATH);
  const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  const paths = { keySetPath: KEY_SET_PATH, exchangePath: '/token' };
  return { name, version, server, ...paths, fields: { client_id: 'bench' } };
}
