// Measures the cost of years of use: a database with millions of rows against one that is almost empty.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { checkExchange } from '../support/checks.mjs';
import { compare, cpu } from '../support/comparison.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import {
  grow,
  GROWN_TABLES,
  grownAuthors,
  grownCounts,
  grownLogins,
  grownMovers,
  MOVING_POLICY,
} from '../support/growth.mjs';
import { sendAll } from '../support/load.mjs';
import { EXPLAINED, mostRows, plansOf } from '../support/query-plans.mjs';
import { addWorkflows, workflowCalls } from '../support/workflows.mjs';

const EXPLAINED_REQUESTS = 40;
/** The longest time that PostgreSQL may need to write its log. */
const LOG_DELAY_MS = 500;
const MAX_COST = 1.1;
/** The most rows that one step of a plan may read. */
const MAX_ROWS = 1_000;

export const growth = {
  name: 'growth',
  title: 'Exchanges (ES256) and pages of workflows on a large and on an almost empty PostgreSQL database',

  async run(workbench) {
    const counts = grownCounts(workbench.options.growthScale);
    const database = await workbench.newDatabase();
    await grow(workbench, database, counts);
    const large = await workbench.startService({ name: 'large', database });
    const small = await workbench.startService({ name: 'small' });
    await addWorkflows(workbench, small);
    for (const contestant of [small, large]) await checkExchange(contestant, workbench.partner);
    const contenders = [
      ...contendersOf(small, loads(workbench, small)),
      ...contendersOf(large, loads(workbench, large, counts)),
    ];
    const comparisons = ['exchange', 'workflows'].flatMap(comparisonsOf);
    const { result } = await compare(workbench, contenders, comparisons);
    const plans = await readPlans(workbench, database, counts);
    const [{ setting }] = await workbench.postgres.query(
      'postgres',
      `SELECT current_setting('shared_buffers') AS setting`,
    );
    const rows = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
    const remark = `Large: ${rows.join(', ')}; shared_buffers ${setting}.`;
    return { ...result, counts, plans, remarks: [remark, ...plans.map(planText)] };
  },
};

/** @param counts the large database's row counts. If given, requests are spread over all its users */
function loads({ partner }, contestant, counts) {
  return {
    exchange: exchangeRequests(contestant, partner, { claimSets: counts && grownLogins(counts.users) }),
    workflows: workflowCalls(contestant, partner, counts && grownAuthors(counts.users)),
  };
}

function contendersOf(contestant, loadsByKind) {
  return Object.entries(loadsByKind).map(([kind, load]) => ({
    name: `${kind}, ${contestant.name}`,
    servers: [contestant],
    load,
  }));
}

function comparisonsOf(kind) {
  const names = { over: `${kind}, large`, under: `${kind}, small` };
  const target = kind === 'exchange' ? { atMost: MAX_COST } : {};
  const titled = (what) => ({ ...names, title: `${kind}: ${what}, large / small` });
  return [
    { ...cpu(names.over, names.under, target), ...titled('CPU with database') },
    { of: 'databaseCpuMicros', ...titled('CPU of the database') },
    { of: 'p50Ms', ...titled('p50') },
  ];
}

/**
 * Reads the plans of the service's own prepared statements. Another service runs them and logs their plans.
 * Its requests include exchanges with a changed projects claim.
 */
async function readPlans(workbench, database, counts) {
  const { partner } = workbench;
  const options = { name: 'explained', database, settings: EXPLAINED, policy: MOVING_POLICY };
  const explained = await workbench.startService(options);
  const kinds = {
    ...loads(workbench, explained, counts),
    projects: exchangeRequests(explained, partner, { claimSets: grownMovers(counts) }),
  };
  // Fetches the access tokens before recording starts.
  await kinds.workflows.requests(1);
  const stopRecording = workbench.postgres.recordLog();
  // Requests are sent one at a time, so that they share no statements.
  for (const load of Object.values(kinds)) await sendAll(explained, load, EXPLAINED_REQUESTS, 1);
  await delay(LOG_DELAY_MS);
  const plans = plansOf(stopRecording(), EXPLAINED_REQUESTS / 2);
  checkPlans(plans);
  return plans;
}

/** Checks that every statement uses indexes for the large tables and reads few rows. */
function checkPlans(plans) {
  for (const changed of ['project_external_key', 'project', 'project_member'])
    assert.ok(
      plans.some(hasInsertion(changed)),
      `PostgreSQL has logged no plan that inserts into ${changed}.`,
    );
  const wholeTable = new RegExp(`Seq Scan on (${GROWN_TABLES.join('|')})\\b`);
  const costly = plans.map(planText).filter((text) => wholeTable.test(text) || mostRows(text) > MAX_ROWS);
  assert.deepEqual(costly, [], `These statements read more than they need:\n${costly.join('\n')}`);
}

const hasInsertion = (table) => (plan) => planText(plan).includes(`Insert on ${table} `);

function planText({ statement, plan }) {
  return [statement, ...plan.map((line) => `  ${line}`)].join('\n');
}
