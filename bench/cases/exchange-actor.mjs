// Token exchange with a subject and an actor token: what the second token costs.
import { exchangeRequests, exchangesWithActor } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { alternate } from '../support/rounds.mjs';

const names = { over: 'with actor', under: 'without' };

export const exchangeActor = {
  name: 'exchange-actor',
  title: 'Token exchange with subject and actor, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const { rounds } = await alternate(workbench, [
      { name: names.over, servers, load: exchangesWithActor(service, workbench.partner, 'ES256') },
      { name: names.under, servers, load: exchangeRequests(service, workbench.partner, 'ES256') },
    ]);
    const ratios = [
      ratio(rounds, { title: 'throughput, with actor / without', of: 'perSecond', ...names }),
      ratio(rounds, { title: 'CPU with database, with actor / without', of: cpuMicros, ...names }),
    ];
    return { rounds, ratios };
  },
};
