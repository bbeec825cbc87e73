// Measures the CPU time of single requests on a server's main thread: hostile requests, and the first request of each kind.
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, requestBytes } from './connection.mjs';
import { exchangeForm, FORM } from './exchanges.mjs';
import { hostileRequest } from './hostile-requests.mjs';
import { titleOf } from './hostile-routes.mjs';
import { loginAdministrator } from './json-calls.mjs';
import { mainThreadMs } from './process-usage.mjs';
import { table } from './report.mjs';
import { RESIDENTS } from './residents.mjs';
import { median } from './statistics.mjs';

const TRIES = 7;
/** Cheaper requests are not tried again, because the minimum of their tries can only fall. */
const WORTH_TRYING_AGAIN_MS = 10;
/** The cost includes the server's work after its response. */
const SETTLING_MS = 3;
/** An entry whose key set does not exist. The attempt to fetch it loads the HTTP client. */
const NOWHERE = {
  type: 'jwks',
  url: 'https://keys.invalid/jwks.json',
  issuer: 'https://elsewhere.partner.example',
  expectedAudience: 'https://instance.example',
};

/**
 * Sends all hostile requests to every route, one at a time, after two valid requests to each route.
 * @param routes see hostile-routes.mjs
 * @returns the costs, the most expensive first: route, request, tries, minimum and median in milliseconds, and status
 */
export async function costsOfHostile(workbench, { name, server }, routes) {
  const client = new Connection(server.origin);
  const costs = [];
  for (const route of routes) {
    for (let asked = 0; asked < 2; asked += 1)
      await measured(client, server, await hostileRequest(route, { body: route.good }, 0));
    workbench.tell(`${name}: ${route.hostile.length} requests to ${route.method} ${route.path}`);
    for (const hostile of route.hostile) costs.push(await costOf(client, server, route, hostile));
  }
  client.close();
  return costs.sort((one, other) => other.leastMs - one.leastMs);
}

/** Other work in the process can only increase a try's cost, so the minimum is the request's cost. */
async function costOf(client, server, route, hostile) {
  const tries = [];
  let status;
  do {
    const request = await hostileRequest(route, hostile, hostile.bytes);
    const sent = await measured(client, server, request);
    tries.push(sent.cpuMs);
    status = sent.status;
  } while (tries.length < TRIES && Math.min(...tries) > WORTH_TRYING_AGAIN_MS);
  return { route, hostile, tries, status, leastMs: Math.min(...tries), medianMs: median(tries) };
}

export function costTable(heading, costs) {
  const rows = costs.map(({ route, hostile, leastMs, medianMs, status }) => [
    titleOf(route),
    leastMs.toFixed(1),
    medianMs.toFixed(1),
    String(status),
    hostile.name,
  ]);
  return table([[heading, 'least', 'median', 'status', ''], ...rows]);
}

/**
 * Measures the first request of each kind after a start, which includes loading modules.
 * @returns rows of a table: the kind, and the costs of its first and second request in milliseconds
 */
export async function firstRequests(workbench) {
  const service = await workbench.startService({ moreKeys: [NOWHERE] });
  const client = new Connection(service.server.origin);
  const exchange = (claims) => {
    const token = workbench.partner.sign('ES256', { ...RESIDENTS[0], ...claims });
    return { ...FORM, path: service.exchangePath, body: exchangeForm(service, token) };
  };
  let administrator;
  const call = async (path, content) => {
    administrator ??= await loginAdministrator(service, workbench.partner);
    const [method, body] = content === undefined ? ['GET'] : ['POST', JSON.stringify(content)];
    return { method, path: `/api/v1${path}`, headers: administrator.jsonHeaders, body };
  };
  const credential = { name: 'First', type: 'httpBasicAuth', data: { user: 'ada', password: 'secret' } };
  const kinds = [
    ['an exchange', () => exchange({})],
    ['a key set is fetched (undici)', () => exchange({ iss: NOWHERE.issuer })],
    ['a JSON body (class-validator)', () => call('/projects', { name: 'First' })],
    ['a credential (ajv)', () => call('/credentials', credential)],
    ['the description of the API (OpenAPI)', () => call('/openapi.json')],
  ];
  const rows = [];
  for (const [kind, make] of kinds) {
    const first = await measured(client, service.server, await make());
    const second = await measured(client, service.server, await make());
    rows.push([kind, first.cpuMs.toFixed(1), second.cpuMs.toFixed(1)]);
  }
  client.close();
  return rows;
}

/** Sends one request while no other is in progress. */
async function measured(client, { processId, origin }, request) {
  const bytes = requestBytes(origin, request);
  const before = mainThreadMs(processId);
  const { status } = await client.send(bytes);
  await delay(SETTLING_MS);
  return { status, cpuMs: mainThreadMs(processId) - before };
}
