// Measures how long the most expensive single requests block the service's main thread, and so all other requests.
import { hostileRoutes, titleOf } from '../support/hostile-routes.mjs';
import { unmeasurable } from '../support/process-usage.mjs';
import { table } from '../support/report.mjs';
import { costsOfHostile, costTable, firstRequests } from '../support/request-costs.mjs';
import { spread } from '../support/statistics.mjs';

/** The longest time that a request may take. */
const BAR_MS = 20;

export const oneRequest = {
  name: 'one-request',
  title:
    'Milliseconds of the service’s main thread for one request, the nastiest of each route, on PostgreSQL',

  async run(workbench) {
    if (unmeasurable !== undefined) return { ratios: [], remarks: [unmeasurable] };
    const service = await workbench.startService();
    const costs = await costsOfHostile(workbench, service, await hostileRoutes(service, workbench.partner));
    await workbench.stop(service.server);
    const first = await firstRequests(workbench);
    const [{ tries, leastMs }] = costs;
    const title = 'dearest request, ms: the least of its tries';
    const over = costs.filter((cost) => cost.leastMs > BAR_MS).length;
    return {
      ratios: [{ title, values: tries, ...spread(tries), median: leastMs, atMost: BAR_MS }],
      remarks: [
        `${over} of ${costs.length} requests took more than ${BAR_MS} ms.`,
        costTable('dearest of each route, ms', dearestOfRoutes(costs)),
        table([['first of its kind after a start, ms', 'first', 'second'], ...first]),
      ],
      costs: costs.map(({ route, hostile, ...cost }) => ({
        route: titleOf(route),
        request: hostile.name,
        ...cost,
      })),
    };
  },
};

/** The most expensive request of each route. `costs` must be sorted, the most expensive first. */
function dearestOfRoutes(costs) {
  const dearest = new Map(costs.toReversed().map((cost) => [titleOf(cost.route), cost]));
  return [...dearest.values()].sort((one, other) => other.leastMs - one.leastMs);
}
