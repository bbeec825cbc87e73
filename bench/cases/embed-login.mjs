// Embedded login: a token is posted, a session is opened, the browser is sent on.
import { embedLogins, exchangeRequests } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { alternate } from '../support/rounds.mjs';

const names = { over: 'embed login', under: 'exchange' };

export const embedLogin = {
  name: 'embed-login',
  title: 'Embedded login, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const { rounds } = await alternate(workbench, [
      { name: names.over, servers, load: embedLogins(workbench.partner, 'ES256') },
      { name: names.under, servers, load: exchangeRequests(service, workbench.partner, 'ES256') },
    ]);
    const ratios = [
      ratio(rounds, { title: 'throughput, embed login / exchange', of: 'perSecond', ...names }),
      ratio(rounds, { title: 'CPU with database, embed login / exchange', of: cpuMicros, ...names }),
    ];
    return { rounds, ratios };
  },
};
