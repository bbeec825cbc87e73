// What an actor token, a first login and a session take beside the ordinary exchange of a known user.
import { randomUUID } from 'node:crypto';
import { embedLogins, exchangeRequests, exchangesWithActor } from '../support/exchanges.mjs';
import { compareLoads } from '../support/load-comparison.mjs';

export const exchangeActor = {
  name: 'exchange-actor',
  title: 'Token exchange with subject and actor, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    return compareLoads(workbench, service, {
      over: { name: 'with actor', load: exchangesWithActor(service, workbench.partner, 'ES256') },
      under: { name: 'without', load: exchangeRequests(service, workbench.partner, 'ES256') },
    });
  },
};

export const firstLogin = {
  name: 'first-login',
  title: 'Token exchange of unknown users, each of whom is made, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const firstLogins = { claimSets: newcomers };
    return compareLoads(workbench, service, {
      over: {
        name: 'first login',
        load: exchangeRequests(service, workbench.partner, 'ES256', firstLogins),
      },
      under: { name: 'known user', load: exchangeRequests(service, workbench.partner, 'ES256') },
    });
  },
};

export const embedLogin = {
  name: 'embed-login',
  title: 'Embedded login, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    return compareLoads(workbench, service, {
      over: { name: 'embed login', load: embedLogins(workbench.partner, 'ES256') },
      under: { name: 'exchange', load: exchangeRequests(service, workbench.partner, 'ES256') },
    });
  },
};

function newcomers(count) {
  return Array.from({ length: count }, () => {
    const sub = randomUUID();
    return { sub, email: `${sub}@partner.example`, given_name: 'New', family_name: 'Comer' };
  });
}
