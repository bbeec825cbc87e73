// Measures what single requests cost the main thread of a server: all that is hostile, and the first of each kind.
import { setTimeout as delay } from 'node:timers/promises';
import { Administrator } from './administrator.mjs';
import { exchangeForm, FORM } from './exchanges.mjs';
import { hostileRequest } from './hostile-requests.mjs';
import { LoneClient } from './lone-client.mjs';
import { mainThreadMs } from './process-usage.mjs';
import { RESIDENTS } from './residents.mjs';
import { median } from './statistics.mjs';

const TRIES = 7;
/** What costs less at first is no further tried: it can only become cheaper. */
const WORTH_TRYING_AGAIN_MS = 10;
/** What a server still does after its answer counts too. */
const SETTLING_MS = 3;
/** Where no key set is: the attempt to fetch one loads what fetches. */
const NOWHERE = {
  type: 'jwks',
  url: 'https://keys.invalid/jwks.json',
  issuer: 'https://elsewhere.partner.example',
  expectedAudience: 'https://instance.example',
};

/**
 * Sends everything hostile to every route, one request at a time, after a good request or two to each route.
 * @param routes see hostile-routes.mjs
 * @returns the dearest first: route, name, the tries in milliseconds, the least and the median of them, the status
 */
export async function costsOfHostile(workbench, { name, server }, routes) {
  const client = new LoneClient(server.origin);
  const costs = [];
  for (const route of routes) {
    for (let asked = 0; asked < 2; asked += 1)
      await client.send(await hostileRequest(route, { body: route.good }, 0));
    workbench.tell(`${name}: ${route.hostile.length} requests to ${route.method} ${route.path}`);
    for (const hostile of route.hostile) costs.push(await costOf(client, server, route, hostile));
  }
  client.close();
  return costs.sort((one, other) => other.leastMs - one.leastMs);
}

/** Other work in the process only ever adds to a try, so the least of them is the request's own. */
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

/**
 * What the first request of each kind costs after a start, with what is loaded by it.
 * @returns rows of a table: the kind, and the first and the second request of that kind in milliseconds
 */
export async function firstRequests(workbench) {
  const service = await workbench.startService({ moreKeys: [NOWHERE] });
  const client = new LoneClient(service.server.origin);
  const rows = [];
  const note = async (kind, make) => {
    const row = [kind];
    for (let asked = 0; asked < 2; asked += 1) {
      const { cpuMs } = await measured(client, service.server, await make());
      row.push(cpuMs.toFixed(1));
    }
    rows.push(row);
  };
  const exchange = async (claims) => {
    const token = await workbench.partner.sign('ES256', { ...RESIDENTS[0], ...claims });
    return { ...FORM, path: service.exchangePath, body: exchangeForm(service, token) };
  };
  await note('an exchange', () => exchange({}));
  await note('a key set is fetched (undici)', () => exchange({ iss: NOWHERE.issuer }));
  const { headers, jsonHeaders } = await Administrator.login(service, workbench.partner);
  const call = (path, body) => ({
    method: 'POST',
    path: `/api/v1${path}`,
    headers: jsonHeaders,
    body: JSON.stringify(body),
  });
  const credential = { name: 'First', type: 'httpBasicAuth', data: { user: 'ada', password: 'secret' } };
  await note('a JSON body (class-validator)', () => call('/projects', { name: 'First' }));
  await note('a credential (ajv)', () => call('/credentials', credential));
  await note('the description of the API (OpenAPI)', () => ({
    method: 'GET',
    path: '/api/v1/openapi.json',
    headers,
  }));
  client.close();
  return rows;
}

/** One request, with nothing else under way. */
async function measured(client, { processId }, request) {
  const before = mainThreadMs(processId);
  const status = await client.send(request);
  await delay(SETTLING_MS);
  return { status, cpuMs: mainThreadMs(processId) - before };
}
