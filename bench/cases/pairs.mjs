// Compares two loads of the service with one difference, such as an actor token, a first login or a second process.
import { randomUUID } from 'node:crypto';
import { forged } from '../support/checks.mjs';
import { compare, cpu, throughput } from '../support/comparison.mjs';
import { proofFor } from '../support/dpop.mjs';
import { accessTokens, bearer, embedLoginsOf, exchangeRequests, sessionsOf } from '../support/exchanges.mjs';
import { sendAll } from '../support/load.mjs';
import { logins } from '../support/residents.mjs';

/** Used tokens must not expire during their round, so that only their earlier use refuses them. */
const USED_LIFETIME_SECONDS = 300;
const USING_CONNECTIONS = 16;
/** The number of users whose access tokens call the API in turn. */
const CALLERS = 50;
const PROJECTS = ['acme-paris:project:editor', 'acme-london:project:viewer'];

export const exchangeActor = pair('exchange-actor', 'Token exchange with subject and actor', {
  over: ['with actor', exchangesBy({ hasActor: true })],
  under: 'without',
});

export const exchangeProjects = pair(
  'exchange-projects',
  'Token exchange with an unchanged claim of projects',
  {
    over: ['with projects', exchangesBy({ claimSets: membersOfProjects })],
    under: 'without',
    atMost: 1.03,
    policy: { projects: { mayAssign: ['acme-*'], create: true } },
  },
);

export const exchangeProof = pair('exchange-proof', 'Token exchange with a proof of possession (DPoP)', {
  over: ['with proof', exchangesBy({ hasProof: true })],
  under: 'without',
  atMost: 1.6,
});

export const callProof = {
  name: 'call-proof',
  title:
    'A page of workflows by a bound access token and a proof (DPoP), against a bearer token, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const { partner } = workbench;
    const path = '/api/v1/workflows';
    const contender = (name, requests) => ({
      name,
      servers: [service],
      load: { method: 'GET', path, expectedStatus: 200, requests },
    });
    const bound = await tokensOf(service, partner, () => ({
      dpop: proofFor(service, 'POST', service.exchangePath),
    }));
    const free = await tokensOf(service, partner);
    return compareBoth(
      workbench,
      contender('with proof', async (count) =>
        spread(bound, count, (token) => ({
          authorization: `DPoP ${token}`,
          dpop: proofFor(service, 'GET', path, token),
        })),
      ),
      contender('bearer', async (count) => spread(free, count, bearer)),
      { atMost: 1.4 },
    );
  },
};

export const callSession = {
  name: 'call-session',
  title:
    'A page of workflows by a session that is bound to a key (DPoP), against one in a cookie, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const path = '/api/v1/workflows';
    const contender = (name, headersOf, sessions) => ({
      name,
      servers: [service],
      load: {
        method: 'GET',
        path,
        expectedStatus: 200,
        requests: async (count) => spread(sessions, count, headersOf),
      },
    });
    const { bound, cookies } = await sessionsOf(service, workbench.partner, CALLERS);
    const byKey = (token) => ({
      authorization: `DPoP ${token}`,
      dpop: proofFor(service, 'GET', path, token),
    });
    return compareBoth(
      workbench,
      contender('bound', byKey, bound),
      contender('cookie', (cookie) => ({ cookie }), cookies),
      { atMost: 1.6 },
    );
  },
};

export const firstLogin = pair('first-login', 'Token exchange of unknown users, each of whom is made', {
  over: ['first login', exchangesBy({ claimSets: newcomers })],
  under: 'known user',
  atMost: 2.2,
});

export const embedLogin = pair('embed-login', 'Embedded login', {
  over: ['embed login', embedLoginsOf()],
  under: 'exchange',
  atMost: 1.3,
});

export const firstEmbedLogin = pair(
  'first-embed-login',
  'Embedded login of unknown users, each of whom is made',
  {
    over: ['first embed login', embedLoginsOf(newcomers)],
    under: 'exchange',
    atMost: 2.2,
  },
);

export const refusedSignature = pair(
  'refused-signature',
  'Tokens with a bad signature against accepted ones',
  {
    over: ['forged', exchangesBy({ change: forged, expectedStatus: 400 })],
    under: 'accepted',
    atMost: 0.6,
  },
);

export const refusedKid = pair('refused-kid', 'Tokens with an unknown kid against accepted ones', {
  over: ['unknown kid', exchangesBy({ change: ofUnknownKid, expectedStatus: 400 })],
  under: 'accepted',
  atMost: 0.6,
});

export const refusedReplay = pair('refused-replay', 'Tokens that were used before against accepted ones', {
  over: ['used before', usedBefore],
  under: 'accepted',
});

export const refusedRole = pair(
  'refused-role',
  'Tokens with a role that the key may not assign against accepted ones',
  {
    over: ['refused role', exchangesBy({ claimSets: wantedAdministrators, expectedStatus: 400 })],
    under: 'accepted',
    atMost: 1.4,
    policy: { allowedRoles: ['global:member'] },
  },
);

export const instances = {
  name: 'instances',
  title: 'Token exchange by one and by two processes on one PostgreSQL database, ES256, known users',

  async run(workbench) {
    const first = await workbench.startService();
    const second = await workbench.startService({ name: 'service-2', database: first.database });
    const load = exchangeRequests(first, workbench.partner);
    const both = { name: 'two processes', servers: [first, second], load };
    return compareBoth(workbench, both, { name: 'one process', servers: [first], load });
  },
};

/**
 * A case that compares a load with exchanges of known users, on one service.
 * @param over the load's name and the function that makes it @param under the exchanges' name @param target for the CPU time, if any
 */
function pair(name, title, { over: [over, loadOf], under, policy, ...target }) {
  return {
    name,
    title: `${title}, ES256, on PostgreSQL`,

    async run(workbench) {
      const service = await workbench.startService({ policy });
      const contender = (called, make) => ({
        name: called,
        servers: [service],
        load: make(service, workbench.partner),
      });
      const contenders = [contender(over, loadOf), contender(under, exchangeRequests)];
      return compareBoth(workbench, ...contenders, target);
    },
  };
}

async function compareBoth(workbench, over, under, target) {
  const comparisons = [throughput(over.name, under.name), cpu(over.name, under.name, target)];
  return (await compare(workbench, [over, under], comparisons)).result;
}

/** The access tokens of `CALLERS` users. */
function tokensOf(service, partner, headersOf) {
  return accessTokens(service, partner, logins(CALLERS), headersOf);
}

/** Requests with each of the tokens in turn. */
function spread(tokens, count, headersOf) {
  return Array.from({ length: count }, (_, index) => ({ headers: headersOf(tokens[index % tokens.length]) }));
}

function exchangesBy(options) {
  return (service, partner) => exchangeRequests(service, partner, options);
}

/** A load of tokens that were used before their round. */
function usedBefore(service, partner) {
  const fresh = exchangeRequests(service, partner, { lifetimeSeconds: USED_LIFETIME_SECONDS });
  const requests = (count) => sendAll(service, fresh, count, USING_CONNECTIONS);
  return { ...fresh, requests, expectedStatus: 400 };
}

function newcomers(count) {
  return Array.from({ length: count }, () => {
    const sub = randomUUID();
    return { sub, email: `${sub}@partner.example`, given_name: 'New', family_name: 'Comer' };
  });
}

function membersOfProjects(count) {
  return logins(count).map((claims) => ({ ...claims, projects: PROJECTS }));
}

function wantedAdministrators(count) {
  return logins(count).map((claims) => ({ ...claims, role: 'global:admin' }));
}

function ofUnknownKid(token) {
  const [header, ...rest] = token.split('.');
  const members = { ...JSON.parse(Buffer.from(header, 'base64url')), kid: 'partner-ES999' };
  return [Buffer.from(JSON.stringify(members)).toString('base64url'), ...rest].join('.');
}
