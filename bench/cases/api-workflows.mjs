// A page of workflows by Bearer: the service against a bare route with the same statements.
import assert from 'node:assert/strict';
import { bearer } from '../support/exchanges.mjs';
import { alternate } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';
import { addWorkflows, workflowCalls } from '../support/workflows.mjs';

const names = { over: 'service', under: 'floor' };

export const apiWorkflows = {
  name: 'api-workflows',
  title: 'GET /api/v1/workflows?limit=20 by access token, 50 workflows a user, on PostgreSQL',

  async run(workbench) {
    const contestants = [await workbench.startService(), await workbench.startFloor()];
    const contenders = [];
    for (const contestant of contestants) {
      await addWorkflows(workbench, contestant);
      const load = workflowCalls(contestant, workbench.partner);
      contenders.push({ name: contestant.name, servers: [contestant], load });
    }
    await checkPages(contenders);
    const { rounds } = await alternate(workbench, contenders);
    const ratios = [
      ratio(rounds, { title: 'throughput, service / floor', of: 'perSecond', ...names, atLeast: 0.7 }),
      ratio(rounds, { title: 'CPU with database, service / floor', of: cpuMicros, ...names }),
    ];
    return { rounds, ratios };
  },
};

/** Both servers must answer the same page of the same user, and refuse a forged token. */
async function checkPages(contenders) {
  const pages = [];
  for (const { name, servers, load } of contenders) {
    const [{ headers }] = await load.requests(1);
    const url = new URL(load.path, servers[0].server.origin);
    const { data, nextCursor } = await (await fetch(url, { headers })).json();
    assert.equal(data.length, 20, `${name} answered no full page`);
    assert.equal(typeof nextCursor, 'string', `${name} does not tell that there is more`);
    pages.push(data);
    const forged = await fetch(url, { headers: bearer(`${headers.authorization.slice(7, -8)}AAAAAAAA`) });
    assert.equal(forged.status, 401, `${name} took a forged access token`);
  }
  assert.deepEqual(pages[1], pages[0], 'The servers answer different pages.');
}
