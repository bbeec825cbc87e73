// What years of use cost: the service on a database of millions of rows against one that is almost empty.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { checkExchange } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { grow, grownAuthors, grownCounts, grownLogins } from '../support/growth.mjs';
import { applyLoad } from '../support/load.mjs';
import { EXPLAINED, plansOf } from '../support/query-plans.mjs';
import { alternate } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';
import { addWorkflows, workflowCalls } from '../support/workflows.mjs';

const EXPLAINED_REQUESTS = 40;
/** So long PostgreSQL may take to write its log. */
const LOG_DELAY_MS = 500;
const MOST_COST = 1.1;
const MOST_PLAN_LINES = 25;

export const growth = {
  name: 'growth',
  title: 'Exchanges (ES256) and pages of workflows on a large and on an almost empty PostgreSQL database',

  async run(workbench) {
    const counts = grownCounts(workbench.options.growthScale);
    const large = await startLarge(workbench, counts);
    const small = await workbench.startService({ name: 'small' });
    await addWorkflows(workbench, small);
    for (const contestant of [small, large]) await checkExchange(contestant, workbench.partner, 'ES256');
    const { rounds } = await alternate(workbench, [
      ...contendersOf('small', small, loads(workbench, small)),
      ...contendersOf('large', large, grownLoads(workbench, large, counts)),
    ]);
    const plans = await readPlans(workbench, large.database, counts);
    const [{ setting: sharedBuffers }] = await workbench.postgres.query(
      'postgres',
      `SELECT current_setting('shared_buffers') AS setting`,
    );
    return {
      rounds,
      counts,
      sharedBuffers,
      plans,
      ratios: ['exchange', 'workflows'].flatMap((kind) => ratiosOf(rounds, kind)),
      remarks: [`Large: ${described(counts)}; shared_buffers ${sharedBuffers}.`, ...plans.map(planText)],
    };
  },
};

async function startLarge(workbench, counts) {
  const database = await workbench.newDatabase();
  await grow(workbench, database, counts);
  return workbench.startService({ name: 'large', database });
}

function loads({ partner }, contestant) {
  return {
    exchange: exchangeRequests(contestant, partner, 'ES256'),
    workflows: workflowCalls(contestant, partner),
  };
}

/** The same requests by users who are spread over the whole database. */
function grownLoads({ partner }, contestant, { users }) {
  return {
    exchange: exchangeRequests(contestant, partner, 'ES256', { claimSets: grownLogins(users) }),
    workflows: workflowCalls(contestant, partner, grownAuthors(users)),
  };
}

function contendersOf(size, contestant, loadsByKind) {
  return Object.entries(loadsByKind).map(([kind, load]) => ({
    name: `${kind}, ${size}`,
    servers: [contestant],
    load,
  }));
}

function ratiosOf(rounds, kind) {
  const names = { over: `${kind}, large`, under: `${kind}, small` };
  const target = kind === 'exchange' ? { atMost: MOST_COST } : {};
  return [
    ratio(rounds, { title: `${kind}: CPU with database, large / small`, of: cpuMicros, ...names, ...target }),
    ratio(rounds, {
      title: `${kind}: CPU of the database, large / small`,
      of: 'databaseCpuMicros',
      ...names,
    }),
    ratio(rounds, { title: `${kind}: p50, large / small`, of: 'p50Ms', ...names }),
  ];
}

/** Plans of what the service really runs, in its own prepared statements: one more service writes them to the log. */
async function readPlans(workbench, database, counts) {
  const explained = await workbench.startService({ name: 'explained', database, settings: EXPLAINED });
  const prepared = [];
  for (const { requests, ...kind } of Object.values(grownLoads(workbench, explained, counts)))
    prepared.push({ ...kind, requests: await requests(EXPLAINED_REQUESTS) });
  const stopRecording = workbench.postgres.recordLog();
  for (const load of prepared) await sendOneByOne(explained, load);
  await delay(LOG_DELAY_MS);
  const plans = plansOf(stopRecording(), EXPLAINED_REQUESTS / 2);
  assert.ok(plans.length > 0, 'PostgreSQL has logged no plans.');
  return plans;
}

/** One at a time, so that each request has statements of its own. */
function sendOneByOne({ server }, load) {
  return applyLoad({ ...load, origins: [server.origin], connections: 1 });
}

function described(counts) {
  return Object.entries({
    'replay records': counts.usedTokens,
    'users with project and link': counts.users,
    'audit rows': counts.auditRows,
    workflows: counts.workflows,
  })
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
}

function planText({ statement, plan }) {
  const shown = plan.length <= MOST_PLAN_LINES ? plan : plan.slice(0, MOST_PLAN_LINES - 1);
  const more = shown.length < plan.length ? [`… and ${plan.length - shown.length} more`] : [];
  return [statement, ...[...shown, ...more].map((line) => `  ${line}`)].join('\n');
}
