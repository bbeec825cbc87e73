// Token exchanges: the service against the peer for each family of keys, once against the floor, and on each database.
import assert from 'node:assert/strict';
import { checkExchange, writtenRows } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { alternate } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';

const overPeer = throughput('service', 'peer', 1.5);

export const exchangeEs256 = {
  name: 'exchange-es256',
  title: 'Token exchange, ES256 in and out, known users: on PostgreSQL, the peer in memory',

  async run(workbench) {
    const contestants = [
      await workbench.startService(),
      await workbench.startFloor(),
      await workbench.startPeer(),
    ];
    return compare(workbench, contestants, 'ES256', [
      throughput('service', 'floor', 0.85),
      overPeer,
      throughput('floor', 'peer', 1.8),
      { title: 'CPU with database, service / floor', of: cpuMicros, over: 'service', under: 'floor' },
    ]);
  },
};

export const exchangeRs256 = againstThePeer('RS256');
export const exchangeEddsa = againstThePeer('EdDSA');

export const embedded = {
  name: 'embedded',
  title: 'Token exchange on the embedded database and on PostgreSQL, ES256, known users',

  async run(workbench) {
    const contestants = [
      await workbench.startService({ name: 'embedded', database: 'embedded' }),
      await workbench.startService({ name: 'postgresql' }),
    ];
    const comparison = {
      ...throughput('embedded', 'postgresql', 0.8),
      title: 'throughput, embedded / PostgreSQL',
    };
    return compare(workbench, contestants, 'ES256', [comparison]);
  },
};

function againstThePeer(algorithm) {
  return {
    name: `exchange-${algorithm.toLowerCase()}`,
    title: `Token exchange, ${algorithm} in and ES256 out, known users: on PostgreSQL, the peer in memory`,

    async run(workbench) {
      const contestants = [await workbench.startService(), await workbench.startPeer()];
      return compare(workbench, contestants, algorithm, [overPeer]);
    },
  };
}

function throughput(over, under, atLeast) {
  return { title: `throughput, ${over} / ${under}`, of: 'perSecond', over, under, atLeast };
}

/** Cases differ in servers, algorithm and targets only. */
async function compare(workbench, contestants, algorithm, comparisons) {
  const { partner } = workbench;
  for (const contestant of contestants) await checkExchange(contestant, partner, algorithm);
  const durable = contestants.filter(({ database }) => database !== undefined);
  const before = await successes(workbench, durable);
  const contenders = contestants.map((contestant) => ({
    name: contestant.name,
    servers: [contestant],
    load: exchangeRequests(contestant, partner, algorithm),
  }));
  const { rounds, sent } = await alternate(workbench, contenders);
  const after = await successes(workbench, durable);
  durable.forEach(({ name }, index) => {
    const rows = after[index] - before[index];
    assert.equal(rows, sent.get(name), `${name} has not written one audit row an exchange`);
  });
  return { rounds, ratios: comparisons.map((comparison) => ratio(rounds, comparison)) };
}

async function successes(workbench, contestants) {
  const counts = await Promise.all(contestants.map((contestant) => writtenRows(workbench, contestant)));
  return counts.map((count) => count.successes);
}
