// First logins: each token brings somebody unknown, for whom a user, a project and a link are made.
import { randomUUID } from 'node:crypto';
import { exchangeRequests } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { alternate } from '../support/rounds.mjs';

const names = { over: 'first login', under: 'known user' };

export const firstLogin = {
  name: 'first-login',
  title: 'Token exchange of unknown users, each of whom is made, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const firstLogins = { claimSets: newcomers };
    const { rounds } = await alternate(workbench, [
      { name: names.over, servers, load: exchangeRequests(service, workbench.partner, 'ES256', firstLogins) },
      { name: names.under, servers, load: exchangeRequests(service, workbench.partner, 'ES256') },
    ]);
    const ratios = [
      ratio(rounds, { title: 'throughput, first login / known user', of: 'perSecond', ...names }),
      ratio(rounds, { title: 'CPU with database, first login / known user', of: cpuMicros, ...names }),
    ];
    return { rounds, ratios };
  },
};

function newcomers(count) {
  return Array.from({ length: count }, () => {
    const sub = randomUUID();
    return { sub, email: `${sub}@partner.example`, given_name: 'New', family_name: 'Comer' };
  });
}
