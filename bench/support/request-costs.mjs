// Measures what single requests cost the main thread of a server.
import { setTimeout as delay } from 'node:timers/promises';
import { hostileRequest } from './hostile-requests.mjs';
import { LoneClient } from './lone-client.mjs';
import { mainThreadMs } from './main-thread.mjs';
import { median } from './statistics.mjs';

const TRIES = 7;
/** What costs less at first is no further tried: it can only become cheaper. */
const WORTH_TRYING_AGAIN_MS = 10;
/** What a server still does after its answer counts too. */
const SETTLING_MS = 3;

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

/** One request, with nothing else under way. */
export async function measured(client, { processId }, request) {
  const before = mainThreadMs(processId);
  const { status } = await client.send(request);
  await delay(SETTLING_MS);
  return { status, cpuMs: mainThreadMs(processId) - before };
}
