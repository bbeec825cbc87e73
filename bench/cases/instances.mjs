// One and two processes of the service on one database.
import { exchangeRequests } from '../support/exchanges.mjs';
import { compareLoads } from '../support/load-comparison.mjs';

export const instances = {
  name: 'instances',
  title: 'Token exchange by one and by two processes on one PostgreSQL database, ES256, known users',

  async run(workbench) {
    const first = await workbench.startService();
    const second = await workbench.startService({ name: 'service-2', database: first.database });
    const load = exchangeRequests(first, workbench.partner, 'ES256');
    return compareLoads(workbench, first, {
      over: { name: 'two processes', servers: [first, second], load },
      under: { name: 'one process', load },
    });
  },
};
