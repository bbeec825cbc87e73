// Compares contenders that take turns.
import assert from 'node:assert/strict';
import { checkExchange, writtenRows } from './checks.mjs';
import { exchangeRequests } from './exchanges.mjs';
import { alternate } from './rounds.mjs';
import { cpuMicros, ratio } from './statistics.mjs';

/** @param target `atLeast` or `atMost`, if any */
export function throughput(over, under, target) {
  return { title: `throughput, ${over} / ${under}`, of: 'perSecond', over, under, ...target };
}

export function cpu(over, under, target) {
  return { title: `CPU with database, ${over} / ${under}`, of: cpuMicros, over, under, ...target };
}

export async function compare(workbench, contenders, comparisons) {
  const { rounds, sent } = await alternate(workbench, contenders);
  return { result: { rounds, ratios: comparisons.map((comparison) => ratio(rounds, comparison)) }, sent };
}

/**
 * A case that compares servers by exchanges that all of them support. Each server is checked before it is measured.
 * @param start returns the `contestants` and the `comparisons`, or the reason why the case is `skipped`. It may also return
 *   `others` (contenders that are not servers), the requests' `options`, and `whenDone`, which returns remarks
 */
export function exchangeCase(name, title, start) {
  return {
    name,
    title: `Token exchange, ${title}`,
    run: async (workbench) => run(workbench, await start(workbench)),
  };
}

async function run(workbench, { skipped, contestants, comparisons, others = [], options, whenDone }) {
  if (skipped !== undefined) return { ratios: [], remarks: [`skipped: ${skipped}`] };
  for (const contestant of contestants)
    await checkExchange(contestant, workbench.partner, options?.algorithm);
  const audited = contestants.filter(({ database, hasOwnSchema }) => database !== undefined && !hasOwnSchema);
  const before = await successes(workbench, audited);
  const contenders = contestants.map((contestant) => exchangesOf(workbench, contestant, options));
  const { result, sent } = await compare(workbench, [...contenders, ...others], comparisons);
  const after = await successes(workbench, audited);
  audited.forEach(({ name }, index) => {
    const rows = after[index] - before[index];
    assert.equal(rows, sent.get(name), `${name} has not written one audit row an exchange`);
  });
  return { ...result, remarks: await whenDone?.() };
}

/** A contender whose load is exchanges of known users' tokens. */
export function exchangesOf({ partner }, contestant, options) {
  return {
    name: contestant.name,
    servers: [contestant],
    load: exchangeRequests(contestant, partner, options),
  };
}

async function successes(workbench, contestants) {
  const counts = await Promise.all(contestants.map((contestant) => writtenRows(workbench, contestant)));
  return counts.map((count) => count.successes);
}
