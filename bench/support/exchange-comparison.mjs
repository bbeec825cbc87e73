// Compares servers by exchanges of one algorithm; cases differ in servers and targets only.
import assert from 'node:assert/strict';
import { checkExchange } from './checks.mjs';
import { exchangeRequests } from './exchanges.mjs';
import { ratio } from './ratios.mjs';
import { alternate } from './rounds.mjs';
import { writtenRows } from './written-rows.mjs';

export async function compareExchanges(workbench, contestants, { algorithm, comparisons }) {
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
    assert.equal(
      after[index] - before[index],
      sent.get(name),
      `${name} has not written one audit row an exchange`,
    );
  });
  return { rounds, ratios: comparisons.map((comparison) => ratio(rounds, comparison)) };
}

async function successes(workbench, contestants) {
  const counts = await Promise.all(contestants.map((contestant) => writtenRows(workbench, contestant)));
  return counts.map((count) => count.successes);
}
