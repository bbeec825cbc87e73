// What the dearest single requests cost the service's main thread, where everybody else waits meanwhile.
import { firstRequests } from '../support/first-requests.mjs';
import { hostileRoutes } from '../support/hostile-routes.mjs';
import { unmeasurable } from '../support/main-thread.mjs';
import { costsOfHostile } from '../support/request-costs.mjs';
import { table } from '../support/table.mjs';

/** No request may take more. */
const BAR_MS = 20;

export const oneRequest = {
  name: 'one-request',
  title:
    'Milliseconds of the service’s main thread for one request, the nastiest of each route, on PostgreSQL',

  async run(workbench) {
    if (unmeasurable !== undefined) return { ratios: [], remarks: [unmeasurable] };
    const costs = await costsOn(workbench, await workbench.startService());
    const embedded = await costsOn(
      workbench,
      await workbench.startService({ name: 'embedded', database: 'embedded' }),
    );
    const first = await firstRequests(workbench);
    const [dearest] = costs;
    const bar = {
      title: 'dearest request, ms: the least of its tries',
      values: dearest.tries,
      median: dearest.leastMs,
      min: Math.min(...dearest.tries),
      max: Math.max(...dearest.tries),
      atMost: BAR_MS,
    };
    const remarks = [
      countOf('PostgreSQL', costs),
      table([
        ['dearest of each route, ms', 'least', 'median', 'status', ''],
        ...dearestOfRoutes(costs).map(rowOf),
      ]),
      countOf('The embedded database', embedded),
      table([
        ['dearest of the embedded database, ms', 'least', 'median', 'status', ''],
        ...dearestOfRoutes(embedded).slice(0, 5).map(rowOf),
      ]),
      table([['first of its kind after a start, ms', 'first', 'second'], ...first]),
    ];
    return { ratios: [bar], remarks, costs: costs.map(plain) };
  },
};

async function costsOn(workbench, service) {
  const costs = await costsOfHostile(workbench, service, await hostileRoutes(service, workbench.partner));
  await workbench.stop(service.server);
  return costs;
}

function countOf(where, costs) {
  const over = costs.filter(({ leastMs }) => leastMs > BAR_MS).length;
  return `${where}: ${over} of ${costs.length} requests took more than ${BAR_MS} ms.`;
}

/** The costs are sorted. */
function dearestOfRoutes(costs) {
  return [...new Map(costs.toReversed().map((cost) => [nameOf(cost), cost])).values()].sort(
    (one, other) => other.leastMs - one.leastMs,
  );
}

function rowOf({ leastMs, medianMs, status, hostile, ...cost }) {
  return [nameOf(cost), leastMs.toFixed(1), medianMs.toFixed(1), String(status), hostile.name];
}

function nameOf({ route: { method, path } }) {
  return `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, '{id}')}`;
}

function plain({ tries, status, hostile, ...cost }) {
  return { route: nameOf(cost), request: hostile.name, status, tries };
}
