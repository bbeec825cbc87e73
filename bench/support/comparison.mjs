// Compares servers by the exchanges that all of them can do.
import assert from 'node:assert/strict';
import { checkExchange, writtenRows } from './checks.mjs';
import { exchangeRequests } from './exchanges.mjs';
import { alternate } from './rounds.mjs';
import { cpuMicros, ratio } from './statistics.mjs';

export function throughput(over, under, atLeast) {
  return { title: `throughput, ${over} / ${under}`, of: 'perSecond', over, under, atLeast };
}

export function cpu(over, under, atMost) {
  return { title: `CPU with database, ${over} / ${under}`, of: cpuMicros, over, under, atMost };
}

/** What is compared of the service and a peer. */
export function overPeer({ name, atLeast }) {
  return [throughput('service', name, atLeast), cpu('service', name)];
}

/**
 * Checks each server, then measures them in turns.
 * @param others contenders that are no servers
 */
export async function compareExchanges(workbench, contestants, algorithm, comparisons, others = []) {
  const { partner } = workbench;
  for (const contestant of contestants) await checkExchange(contestant, partner, algorithm);
  const told = contestants.filter(({ database, hasOwnSchema }) => database !== undefined && !hasOwnSchema);
  const before = await successes(workbench, told);
  const contenders = contestants.map((contestant) => ({
    name: contestant.name,
    servers: [contestant],
    load: exchangeRequests(contestant, partner, algorithm),
  }));
  const { rounds, sent } = await alternate(workbench, [...contenders, ...others]);
  const after = await successes(workbench, told);
  told.forEach(({ name }, index) => {
    const rows = after[index] - before[index];
    assert.equal(rows, sent.get(name), `${name} has not written one audit row an exchange`);
  });
  return { rounds, ratios: comparisons.map((comparison) => ratio(rounds, comparison)) };
}

async function successes(workbench, contestants) {
  const counts = await Promise.all(contestants.map((contestant) => writtenRows(workbench, contestant)));
  return counts.map((count) => count.successes);
}
