// Sorted and searched lists of workflows: a page with a million of them against one with a thousand.
import assert from 'node:assert/strict';
import { accessTokens, bearer } from '../support/exchanges.mjs';
import { LoneClient } from '../support/lone-client.mjs';
import { RESIDENTS } from '../support/residents.mjs';
import { median, ratio } from '../support/statistics.mjs';

const SMALL = 1_000;
const LARGE = 1_000_000;
const PAGES_A_ROUND = 20;
const MOST_COST = 2;
const ADMINISTRATOR = {
  sub: 'administrator',
  email: 'administrator@partner.example',
  role: 'global:admin',
};
/** A member of the projects of all residents. */
const [MEMBER] = RESIDENTS;

/** Those with a target are what people look at first; a search costs the more, the more have what is sought and the page has not. */
const LISTS = [
  ['by last change', 'sort=updatedAt', MOST_COST],
  ['by last change, active ones', 'sort=updatedAt&active=true', MOST_COST],
  ['by name', 'sort=name', MOST_COST],
  ['by name, inactive ones from Z to A', 'sort=name&order=desc&active=false', MOST_COST],
  ['search for a word of a fifth', 'sort=updatedAt&search=ord', undefined],
  ['search for two words of one in 35', 'sort=updatedAt&search=order%20imp', undefined],
  ['search for a word of one in 100', 'sort=updatedAt&search=percent', undefined],
  ['search for what nothing has', 'sort=updatedAt&search=nothing', undefined],
  ['search for a word of a fifth, by name', 'sort=name&search=ord', undefined],
];
const COUNTS = [
  ['count', '', MOST_COST],
  ['count of a word of a fifth', 'search=ord', undefined],
];

export const workflowLists = {
  name: 'workflow-lists',
  title: `Sorted lists of ${LARGE} workflows against ${SMALL}, one request after another, on PostgreSQL`,

  async run(workbench) {
    const contestants = [];
    for (const [name, size] of [
      ['small', SMALL],
      ['large', Math.max(SMALL, Math.round(LARGE / workbench.options.growthScale))],
    ])
      contestants.push(await startFilled(workbench, name, size));
    const callers = await callersOf(workbench, contestants);
    const kinds = callers.flatMap((caller) => [
      ...LISTS.map(([title, query, atMost]) => kindOf(caller, title, `?limit=50&${query}`, atMost)),
      ...COUNTS.map(([title, query, atMost]) => kindOf(caller, title, `/count?${query}`, atMost)),
    ]);
    const rounds = [];
    for (let round = 0; round <= workbench.options.rounds; round += 1)
      for (const kind of kinds)
        for (const contestant of contestants) rounds.push({ round, ...(await timesOf(contestant, kind)) });
    // The first one warms everything up.
    return summaryOf(
      kinds,
      rounds.filter(({ round }) => round > 0),
    );
  },
};

function summaryOf(kinds, rounds) {
  const ratios = kinds.map(({ title, atMost }) => {
    const target = atMost === undefined ? {} : { atMost };
    return ratio(rounds, {
      title,
      of: 'p50Ms',
      over: `${title}, large`,
      under: `${title}, small`,
      ...target,
    });
  });
  const remarks = kinds.map(({ title }) => {
    const of = (size) =>
      median(rounds.filter(({ contender }) => contender === `${title}, ${size}`).map(({ p50Ms }) => p50Ms));
    return `${title}: ${of('small').toFixed(1)} ms, ${of('large').toFixed(1)} ms`;
  });
  return { ratios, remarks: [remarks.join('\n')] };
}

async function startFilled(workbench, name, size) {
  const database = await workbench.newDatabase();
  workbench.tell(`filling ${size} workflows`);
  for (const statement of FILLING)
    await workbench.postgres.query(database, statement, parametersOf(statement, size));
  await workbench.postgres.query(database, 'VACUUM ANALYZE');
  const contestant = await workbench.startService({ name, database });
  return { ...contestant, client: new LoneClient(contestant.server.origin) };
}

const parametersOf = (statement, size) => (statement.includes('$1') ? [size] : []);

/** Names of which the words are more or less common, and times that are all different. */
const FILLING = [
  `INSERT INTO project_member
   SELECT project.id, account.id, 'project:viewer' FROM project, user_account account
   WHERE account.email = '${MEMBER.email}' AND project.personal_owner_id <> account.id`,
  `INSERT INTO workflow (id, project_id, name, active, nodes, connections, updated_at)
   SELECT gen_random_uuid(), projects.ids[1 + n % cardinality(projects.ids)],
     (ARRAY['Order', 'Invoice', 'Customer', 'Sync', 'Report'])[1 + n % 5] || ' '
       || (ARRAY['import', 'export', 'mail', 'check', 'copy', 'archive', 'notify'])[1 + n % 7] || ' ' || n
       || CASE WHEN n % 100 = 0 THEN ' percent' ELSE '' END,
     n % 3 = 0, '[]', '{}', timestamptz '2026-01-01' + make_interval(secs => n::bigint * 7919 % 1000003)
   FROM generate_series(1, $1::int) n, (SELECT array_agg(id) AS ids FROM project) projects`,
];

/** An administrator and a member of a thousand projects, with an access token of each service. */
async function callersOf({ partner }, contestants) {
  const callers = [
    { who: 'administrator', claims: ADMINISTRATOR },
    { who: `member of ${RESIDENTS.length} projects`, claims: MEMBER },
  ];
  for (const caller of callers) {
    caller.headers = new Map();
    for (const contestant of contestants) {
      const [token] = await accessTokens(contestant, partner, [caller.claims]);
      caller.headers.set(contestant.name, bearer(token));
    }
  }
  return callers;
}

function kindOf({ who, headers }, title, target, atMost) {
  return { title: `${who}, ${title}`, headers, path: `/api/v1/workflows${target}`, atMost };
}

async function timesOf({ name, client }, { title, headers, path }) {
  const times = [];
  for (let page = 0; page < PAGES_A_ROUND; page += 1) {
    const begun = performance.now();
    const status = await client.send({ method: 'GET', path, headers: headers.get(name) });
    times.push(performance.now() - begun);
    assert.equal(status, 200, path);
  }
  return { contender: `${title}, ${name}`, p50Ms: median(times) };
}
