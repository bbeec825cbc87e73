// One and two processes of the service on one database.
import { exchangeRequests } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { alternate } from '../support/rounds.mjs';

const names = { over: 'two processes', under: 'one process' };

export const instances = {
  name: 'instances',
  title: 'Token exchange by one and by two processes on one PostgreSQL database, ES256, known users',

  async run(workbench) {
    const first = await workbench.startService();
    const second = await workbench.startService({ name: 'service-2', database: first.database });
    const load = exchangeRequests(first, workbench.partner, 'ES256');
    const { rounds } = await alternate(workbench, [
      { name: names.under, servers: [first], load },
      { name: names.over, servers: [first, second], load },
    ]);
    const ratios = [
      ratio(rounds, { title: 'throughput, two processes / one', of: 'perSecond', ...names }),
      ratio(rounds, { title: 'CPU with database, two processes / one', of: cpuMicros, ...names }),
    ];
    return { rounds, ratios };
  },
};
