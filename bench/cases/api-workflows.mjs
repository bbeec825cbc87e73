// A page of workflows by Bearer: the service against a bare route with the same statements.
import assert from 'node:assert/strict';
import { exchangeOnce } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { RESIDENTS } from '../support/residents.mjs';
import { alternate } from '../support/rounds.mjs';
import { addWorkflows } from '../support/workflows.mjs';

const PATH = '/api/v1/workflows?limit=20';
/** The longest life that access tokens have by default. */
const LIFETIME_SECONDS = 900;
const names = { over: 'service', under: 'floor' };

export const apiWorkflows = {
  name: 'api-workflows',
  title: 'GET /api/v1/workflows?limit=20 by access token, 50 workflows a user, on PostgreSQL',

  async run(workbench) {
    const contestants = [await workbench.startService(), await workbench.startFloor()];
    const contenders = [];
    for (const contestant of contestants) {
      await addWorkflows(workbench, contestant);
      contenders.push(await contenderOf(workbench, contestant));
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

async function contenderOf({ partner }, contestant) {
  const tokens = await accessTokens(contestant, partner);
  const requests = async (count) =>
    Array.from({ length: count }, (_, index) => ({ headers: bearer(tokens[index % tokens.length]) }));
  return {
    name: contestant.name,
    servers: [contestant],
    load: { method: 'GET', path: PATH, expectedStatus: 200, requests },
  };
}

/** One for each user. */
async function accessTokens(contestant, partner) {
  const subjectTokens = await partner.signAll('ES256', RESIDENTS, LIFETIME_SECONDS);
  const tokens = [];
  for (const subjectToken of subjectTokens) {
    const { status, text } = await exchangeOnce(contestant, subjectToken);
    assert.equal(status, 200, text);
    tokens.push(JSON.parse(text).access_token);
  }
  return tokens;
}

/** Both servers must answer the same page of the same user, and refuse a forged token. */
async function checkPages(contenders) {
  const pages = [];
  for (const { name, servers, load } of contenders) {
    const [{ headers }] = await load.requests(1);
    const url = new URL(PATH, servers[0].server.origin);
    const { data, nextCursor } = await (await fetch(url, { headers })).json();
    assert.equal(data.length, 20, `${name} answered no full page`);
    assert.equal(typeof nextCursor, 'string', `${name} does not tell that there is more`);
    pages.push(data);
    const forged = await fetch(url, { headers: bearer(`${headers.authorization.slice(7, -8)}AAAAAAAA`) });
    assert.equal(forged.status, 401, `${name} took a forged access token`);
  }
  assert.deepEqual(pages[1], pages[0], 'The servers answer different pages.');
}

function bearer(token) {
  return { authorization: `Bearer ${token}` };
}
