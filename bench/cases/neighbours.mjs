// Compares a good client's latency while two hostile clients send requests with its latency alone.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { exchangeRequests } from '../support/exchanges.mjs';
import { hostileRequest } from '../support/hostile-requests.mjs';
import { hostileRoutes } from '../support/hostile-routes.mjs';
import { sum, unmeasurable } from '../support/process-usage.mjs';
import { costsOfHostile, costTable } from '../support/request-costs.mjs';
import { measure, warmUp } from '../support/rounds.mjs';
import { ratio } from '../support/statistics.mjs';
import { addWorkflows, workflowCalls } from '../support/workflows.mjs';

const HOSTILE_PROGRAM = join(import.meta.dirname, '..', 'support', 'hostile-clients.mjs');
const HOSTILE_CLIENTS = 2;
/** The number of most expensive requests that the hostile clients send in turn. */
const DEAREST = 20;
/** The good client's request rate, typical of a small product. */
const PER_SECOND = 100;
/** Every fourth request reads workflows. The others are exchanges. */
const ONE_CALL_IN = 4;
const names = { over: 'beside hostile', under: 'quiet' };

export const neighbours = {
  name: 'neighbours',
  title: `Latency of a good client at ${PER_SECOND} a second beside ${HOSTILE_CLIENTS} hostile ones, on PostgreSQL`,

  async run(workbench) {
    if (unmeasurable !== undefined) return { ratios: [], remarks: [unmeasurable] };
    const service = await workbench.startService();
    await addWorkflows(workbench, service);
    const routes = await hostileRoutes(service, workbench.partner);
    const dearest = (await costsOfHostile(workbench, service, routes)).slice(0, DEAREST);
    const good = { name: 'quiet', servers: [service], load: await goodLoad(workbench, service) };
    const count = workbench.options.requests ?? PER_SECOND * workbench.options.seconds;
    const rounds = [];
    const answers = [];
    for (let round = 1; round <= workbench.options.rounds; round += 1) {
      rounds.push({ contender: names.under, round, ...(await measure(workbench, good, count)) });
      const measureGood = () => measure(workbench, good, count);
      const { result: beside, hostilePerSecond } = await besideHostile(service, dearest, measureGood);
      rounds.push({ contender: names.over, round, ...beside });
      answers.push(hostilePerSecond);
      workbench.tell(`round ${round}: p99 ${rounds.at(-2).p99Ms.toFixed(1)}, ${beside.p99Ms.toFixed(1)} ms`);
    }
    const ratios = [
      ratio(rounds, { title: 'p99, beside hostile / quiet', of: 'p99Ms', ...names, atMost: 5 }),
      ratio(rounds, { title: 'p50, beside hostile / quiet', of: 'p50Ms', ...names }),
    ];
    return { rounds, ratios, remarks: [answersOf(answers), costTable('what they sent, ms', dearest)] };
  },
};

/** Warms the service up and mixes exchanges with reads of workflow pages. */
async function goodLoad(workbench, service) {
  const exchanges = exchangeRequests(service, workbench.partner);
  const calls = workflowCalls(service, workbench.partner);
  workbench.tell('warming the service up');
  for (const load of [exchanges, calls]) await warmUp(workbench, { servers: [service], load });
  const requests = async (count) => {
    const pages = await calls.requests(count);
    const { method, path } = calls;
    const mixed = (request, index) =>
      index % ONE_CALL_IN === 0 ? { method, path, ...pages[index] } : request;
    return (await exchanges.requests(count)).map(mixed);
  };
  return { ...exchanges, requests, perSecond: PER_SECOND };
}

/**
 * Runs `work` while the hostile clients send requests.
 * @returns the result of `work`, and the hostile clients' responses per second by status
 */
async function besideHostile({ server: { origin } }, costs, work) {
  const requests = await Promise.all(
    costs.map(({ route, hostile }) => hostileRequest(route, hostile, hostile.bytes)),
  );
  const child = fork(HOSTILE_PROGRAM);
  child.send({ origin, requests, clients: HOSTILE_CLIENTS });
  await once(child, 'message');
  const startedAt = performance.now();
  try {
    const result = await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const told = once(child, 'message');
    child.send('stop');
    const [statuses] = await told;
    const rates = Object.entries(statuses).map(([status, count]) => [status, count / seconds]);
    return { result, hostilePerSecond: Object.fromEntries(rates) };
  } finally {
    child.disconnect();
  }
}

/** The mean rates of all rounds. */
function answersOf(rounds) {
  const statuses = new Set(rounds.flatMap((rates) => Object.keys(rates)));
  const rates = [...statuses].map((status) => {
    const rate = sum(rounds.map((one) => one[status] ?? 0)) / rounds.length;
    return `${status}: ${rate.toFixed(1)}`;
  });
  return `Answers that the hostile clients got a second, by status: ${rates.join(', ')}.`;
}
