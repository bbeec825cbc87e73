// What the dearest single requests cost the service's main thread, where everybody else waits meanwhile.
import { hostileRoutes, titleOf } from '../support/hostile-routes.mjs';
import { unmeasurable } from '../support/process-usage.mjs';
import { table } from '../support/report.mjs';
import { costsOfHostile, firstRequests } from '../support/request-costs.mjs';
import { spread } from '../support/statistics.mjs';

/** No request may take more. */
const BAR_MS = 20;

export const oneRequest = {
  name: 'one-request',
  title:
    'Milliseconds of the service’s main thread for one request, the nastiest of each route, on PostgreSQL',

  async run(workbench) {
    if (unmeasurable !== undefined) return { ratios: [], remarks: [unmeasurable] };
    const costs = await costsOn(workbench, {});
    const embedded = await costsOn(workbench, { name: 'embedded', database: 'embedded' });
    const first = await firstRequests(workbench);
    const [dearest] = costs;
    const bar = {
      title: 'dearest request, ms: the least of its tries',
      values: dearest.tries,
      ...spread(dearest.tries),
      median: dearest.leastMs,
      atMost: BAR_MS,
    };
    const remarks = [
      countOf('PostgreSQL', costs),
      costTable('dearest of each route, ms', dearestOfRoutes(costs)),
      countOf('The embedded database', embedded),
      costTable('dearest of the embedded database, ms', dearestOfRoutes(embedded).slice(0, 5)),
      table([['first of its kind after a start, ms', 'first', 'second'], ...first]),
    ];
    return { ratios: [bar], remarks, costs: costs.map(plain) };
  },
};

async function costsOn(workbench, options) {
  const service = await workbench.startService(options);
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
  const dearest = new Map(costs.toReversed().map((cost) => [titleOf(cost.route), cost]));
  return [...dearest.values()].sort((one, other) => other.leastMs - one.leastMs);
}

function costTable(heading, costs) {
  const rows = costs.map(({ route, hostile, leastMs, medianMs, status }) => [
    titleOf(route),
    leastMs.toFixed(1),
    medianMs.toFixed(1),
    String(status),
    hostile.name,
  ]);
  return table([[heading, 'least', 'median', 'status', ''], ...rows]);
}

function plain({ route, hostile, status, tries }) {
  return { route: titleOf(route), request: hostile.name, status, tries };
}
