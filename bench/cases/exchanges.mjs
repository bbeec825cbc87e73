// Exchanges of known users' tokens. The servers take turns.
import { freePort } from '../../dist/demo/free-port.js';
import { PEERS } from '../peers/index.mjs';
import { writtenRows } from '../support/checks.mjs';
import { compare, cpu, exchangeCase, exchangesOf, throughput } from '../support/comparison.mjs';
import { startCryptography } from '../support/cryptography.mjs';
import { callJson } from '../support/json-calls.mjs';
import { versionOfNode } from '../support/node-versions.mjs';
import { warmUp } from '../support/rounds.mjs';
import { untilTrue } from '../support/until.mjs';

const ARRIVAL_MS = 60_000;
const [inMemory] = PEERS;

/** Every policy property that an exchange without an actor can satisfy for a known user. */
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

export const exchangeEs256 = exchangeCase(
  'exchange-es256',
  'ES256 in and out, on PostgreSQL: against the floor and cryptography alone',
  async (workbench) => ({
    contestants: [await workbench.startService(), await workbench.startFloor()],
    others: [await startCryptography(workbench)],
    comparisons: [
      throughput('service', 'floor'),
      cpu('service', 'floor', { atMost: 1.25 }),
      cpu('service', 'cryptography', { atMost: 3.2 }),
      cpu('floor', 'cryptography'),
    ],
  }),
);

export const exchangeRs256 = againstThePeer('RS256');
export const exchangeEddsa = againstThePeer('EdDSA');

function againstThePeer(algorithm) {
  const title = `${algorithm} in and ES256 out: on PostgreSQL, oidc-provider in memory`;
  return exchangeCase(`exchange-${algorithm.toLowerCase()}`, title, async (workbench) => ({
    contestants: [await workbench.startService(), await inMemory.start(workbench)],
    options: { algorithm },
    comparisons: overPeer(inMemory),
  }));
}

function overPeer({ name, atLeast }) {
  return [throughput('service', name, { atLeast }), cpu('service', name)];
}

export const peers = exchangeCase(
  'peers',
  'ES256: the service on PostgreSQL against the peers of --peer',
  async (workbench) => {
    const { peers: chosen } = workbench.options;
    const service = await workbench.startService();
    const rivals = [];
    for (const peer of chosen) rivals.push(await peer.start(workbench));
    const versions = rivals.map(({ name, version }) => `${name}: version ${version}`).join('\n');
    const contestants = [service, ...rivals];
    return { contestants, comparisons: chosen.flatMap(overPeer), whenDone: () => [versions] };
  },
);

export const embedded = exchangeCase(
  'embedded',
  'ES256: on the embedded database and on PostgreSQL',
  async (workbench) => ({
    contestants: [
      await workbench.startService({ name: 'embedded', database: 'embedded' }),
      await workbench.startService({ name: 'PostgreSQL' }),
    ],
    comparisons: [throughput('embedded', 'PostgreSQL', { atLeast: 0.8 })],
  }),
);

export const exchangePolicy = exchangeCase(
  'exchange-policy',
  'ES256, on PostgreSQL: under a policy with every member',
  async (workbench) => ({
    contestants: [
      await workbench.startService({ name: 'contract' }),
      await workbench.startService({ name: 'full policy', policy: FULL_POLICY }),
    ],
    comparisons: [cpu('contract', 'full policy', { atLeast: 0.95 })],
  }),
);

export const nodeVersions = exchangeCase(
  'node-versions',
  'ES256, on PostgreSQL: the service on each Node.js binary of --node',
  async (workbench) => {
    const { nodes } = workbench.options;
    if (nodes.length < 2) return { skipped: 'it needs --node twice or more' };
    const contestants = [];
    for (const [index, node] of nodes.entries()) {
      // Two binaries may have the same version.
      const name = `${index + 1}: ${versionOfNode(node)}`;
      contestants.push(await workbench.startService({ name, node }));
    }
    const [first, ...others] = contestants.map(({ name }) => name);
    const comparisons = others.flatMap((name) => [throughput(name, first), cpu(name, first)]);
    return { contestants, comparisons };
  },
);

export const older = againstOlder('older', 'on PostgreSQL', async (workbench, program) => {
  // The schemas may differ, so each program creates its own tables. The users' first exchanges create the users.
  const database = await workbench.newEmptyDatabase();
  const service = await workbench.startService({ ...program, database });
  await workbench.meetResidents(service);
  return { ...service, hasOwnSchema: true };
});

export const olderEmbedded = againstOlder(
  'older-embedded',
  'on the embedded database',
  (workbench, program) => workbench.startService({ ...program, database: 'embedded' }),
);

function againstOlder(name, where, start) {
  return exchangeCase(
    name,
    `ES256, ${where}: the service against the checkout of --against`,
    async (workbench) => {
      const { older: script } = workbench.options;
      if (script === undefined) return { skipped: 'it needs --against' };
      const contestants = [];
      for (const program of [{ name: 'service' }, { name: 'older', script }]) {
        contestants.push(await start(workbench, program));
      }
      return {
        contestants,
        comparisons: [throughput('service', 'older'), cpu('service', 'older', { atMost: 1.1 })],
      };
    },
  );
}

export const auditStreaming = exchangeCase(
  'audit-streaming',
  'ES256, on PostgreSQL: with webhook and syslog as sinks of the audit trail, and without',
  async (workbench) => {
    const syslogPort = await freePort();
    // The receivers run in a separate process, which is not part of any measured CPU time.
    const { origin } = await workbench.startProgram('receivers', { syslogPort }, '/');
    const moreEnvironment = {
      SVC_AUDIT_WEBHOOK_URL: `${origin}/audit`,
      SVC_AUDIT_WEBHOOK_SECRET: 'a secret of thirty-two characters',
      SVC_AUDIT_WEBHOOK_ALLOW_HTTP: 'true',
      SVC_AUDIT_SYSLOG_URL: `tcp://127.0.0.1:${syslogPort}`,
    };
    const database = await workbench.newDatabase();
    // Both sinks start with the oldest event.
    await workbench.postgres.query(
      database,
      `INSERT INTO audit_sink_cursor (name, transaction_id, event_id) VALUES ('webhook', 0, 0), ('syslog', 0, 0)`,
    );
    const streaming = await workbench.startService({ name: 'streaming', database, moreEnvironment });
    return {
      contestants: [streaming, await workbench.startService({ name: 'plain' })],
      comparisons: [
        throughput('streaming', 'plain', { atLeast: 0.95 }),
        cpu('plain', 'streaming', { atLeast: 0.95 }),
      ],
      whenDone: () => untilArrived(workbench, streaming, origin),
    };
  },
);

/** Checks that both sinks have received every audit row. */
async function untilArrived(workbench, contestant, origin) {
  const { successes, failures } = await writtenRows(workbench, contestant);
  await untilTrue(
    ARRIVAL_MS,
    () => 'A sink has not got every event.',
    async () => {
      const { webhook, syslog } = await callJson(origin);
      return Math.min(webhook, syslog) >= successes + failures;
    },
  );
}

export const latency = {
  name: 'latency',
  title: 'Latency of token exchanges at half of the service’s peak, ES256, known users, on PostgreSQL',

  async run(workbench) {
    const contestants = [await workbench.startService(), await workbench.startFloor()];
    const contenders = contestants.map((contestant) => exchangesOf(workbench, contestant));
    const peak = await warmUp(workbench, contenders[0]);
    const perSecond = Math.round(peak / 2);
    const paced = contenders.map((contender) => ({ ...contender, load: { ...contender.load, perSecond } }));
    const names = { over: 'service', under: 'floor' };
    const p99 = { title: 'p99, service / floor', of: 'p99Ms', ...names, atMost: 1.5 };
    const { result } = await compare(workbench, paced, [p99]);
    const remark = `The service's peak was ${Math.round(peak)} a second; both were sent ${perSecond} a second.`;
    return { ...result, remarks: [remark] };
  },
};
