// Two loads of the service that differ in one thing: an actor token, a first login, a session, a second process.
import { randomUUID } from 'node:crypto';
import { embedLogins, exchangeRequests, exchangesWithActor } from '../support/exchanges.mjs';
import { logins } from '../support/residents.mjs';
import { alternate, measure, warmUp } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';

export const exchangeActor = {
  name: 'exchange-actor',
  title: 'Token exchange with subject and actor, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    return compare(workbench, service, {
      over: { name: 'with actor', load: exchangesWithActor(service, workbench.partner, 'ES256') },
      under: { name: 'without', load: exchangeRequests(service, workbench.partner, 'ES256') },
    });
  },
};

const GAUGE_REQUESTS = 4_000;

/** Every member of a policy that a known user who comes alone can pass. */
const FULL_POLICY = {
  flows: ['embed', 'exchange'],
  notAfter: '2999-12-31',
  origins: ['https://product.example'],
  perMinute: 1_000_000,
  allowedRoles: ['global:member', 'global:admin'],
  roleCeiling: true,
  excludeOwner: true,
  requireVerifiedEmail: true,
  emailDomains: ['partner.example'],
  linkExistingUsers: true,
  linkPrivileged: false,
  provisionUsers: false,
  actFor: ['https://login.partner.example'],
  requireActor: false,
  rights: 'both',
  scopes: ['workflow:read', 'workflow:write'],
  resources: ['https://reports.example'],
};

export const exchangePolicy = {
  name: 'exchange-policy',
  title: 'Token exchange under a policy with every member, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const plain = await workbench.startService();
    const judged = await workbench.startService({ name: 'judged', policy: FULL_POLICY });
    const contender = (name, service) => ({
      name,
      servers: [service],
      load: exchangeRequests(service, workbench.partner, 'ES256'),
    });
    const names = { over: 'contract', under: 'full policy' };
    const { rounds } = await alternate(workbench, [
      contender('contract', plain),
      contender('full policy', judged),
    ]);
    const title = 'CPU with database, contract / full policy';
    return { rounds, ratios: [ratio(rounds, { title, of: cpuMicros, ...names, atLeast: 0.95 })] };
  },
};

const PROJECTS = ['acme-paris:project:editor', 'acme-london:project:viewer'];

export const exchangeProjects = {
  name: 'exchange-projects',
  title: 'Token exchange with an unchanged claim of projects, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const policy = { projects: { mayAssign: ['acme-*'], create: true } };
    const service = await workbench.startService({ policy });
    const claimSets = (count) => logins(count).map((claims) => ({ ...claims, projects: PROJECTS }));
    return compare(workbench, service, {
      over: {
        name: 'with projects',
        load: exchangeRequests(service, workbench.partner, 'ES256', { claimSets }),
      },
      under: { name: 'without', load: exchangeRequests(service, workbench.partner, 'ES256') },
      atMost: 1.03,
    });
  },
};

export const firstLogin = {
  name: 'first-login',
  title: 'Token exchange of unknown users, each of whom is made, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const newcomersIn = exchangeRequests(service, workbench.partner, 'ES256', { claimSets: newcomers });
    return compare(workbench, service, {
      over: { name: 'first login', load: newcomersIn },
      under: { name: 'known user', load: exchangeRequests(service, workbench.partner, 'ES256') },
      atMost: 3,
    });
  },
};

export const embedLogin = {
  name: 'embed-login',
  title: 'Embedded login, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    return compare(workbench, service, {
      over: { name: 'embed login', load: embedLogins(workbench.partner, 'ES256') },
      under: { name: 'exchange', load: exchangeRequests(service, workbench.partner, 'ES256') },
      atMost: 1.3,
    });
  },
};

export const instances = {
  name: 'instances',
  title: 'Token exchange by one and by two processes on one PostgreSQL database, ES256, known users',

  async run(workbench) {
    const first = await workbench.startService();
    const second = await workbench.startService({ name: 'service-2', database: first.database });
    const load = exchangeRequests(first, workbench.partner, 'ES256');
    return compare(workbench, first, {
      over: { name: 'two processes', servers: [first, second], load },
      under: { name: 'one process', load },
    });
  },
};

/** Each process at a third of a core: where the machine is full, processes wait for each other. */
const SHARE_OF_A_CORE = 1 / 3;
const WORKERS = 2;

export const workers = {
  name: 'workers',
  title:
    'Token exchange by one process, and by two workers of an instance, each at a third of a core, ES256, known users',

  async run(workbench) {
    const moreEnvironment = { SVC_THROTTLE_STORE: 'database' };
    const one = await workbench.startService({ moreEnvironment });
    const several = await workbench.startService({
      name: 'workers',
      moreEnvironment: { ...moreEnvironment, SVC_WORKERS: String(WORKERS) },
    });
    const load = exchangeRequests(one, workbench.partner, 'ES256');
    const gauge = { name: 'one process', servers: [one], load };
    await warmUp(workbench, gauge);
    await warmUp(workbench, { name: 'two workers', servers: [several], load });
    const { serverCpuMicros } = await measure(workbench, gauge, GAUGE_REQUESTS);
    const each = Math.round((SHARE_OF_A_CORE * 1e6) / serverCpuMicros);
    const paced = (name, server, perSecond) => ({ name, servers: [server], load: { ...load, perSecond } });
    const { rounds } = await alternate(workbench, [
      paced('two workers', several, WORKERS * each),
      paced('one process', one, each),
    ]);
    const names = { over: 'two workers', under: 'one process' };
    const ratios = [
      ratio(rounds, {
        title: 'CPU with database, two workers / one process',
        of: cpuMicros,
        ...names,
        atMost: 1.1,
      }),
      ratio(rounds, { title: 'CPU of the service alone', of: 'serverCpuMicros', ...names }),
    ];
    return { rounds, ratios, remarks: [`Each process was sent ${each} exchanges a second.`] };
  },
};

function newcomers(count) {
  return Array.from({ length: count }, () => {
    const sub = randomUUID();
    return { sub, email: `${sub}@partner.example`, given_name: 'New', family_name: 'Comer' };
  });
}

/**
 * @param over, under name and load of a contender, with the servers of its own where it has more than `service`
 * @param target of the CPU time, if any
 */
async function compare(workbench, service, { over, under, ...target }) {
  const contenders = [over, under].map((contender) => ({ servers: [service], ...contender }));
  const { rounds } = await alternate(workbench, contenders);
  const names = { over: over.name, under: under.name };
  const both = `${over.name} / ${under.name}`;
  const ratios = [
    ratio(rounds, { title: `throughput, ${both}`, of: 'perSecond', ...names }),
    ratio(rounds, { title: `CPU with database, ${both}`, of: cpuMicros, ...names, ...target }),
  ];
  return { rounds, ratios };
}
