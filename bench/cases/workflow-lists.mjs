// Compares pages of sorted and searched lists of a hundred thousand and of a thousand workflows.
import assert from 'node:assert/strict';
import { Connection, requestBytes } from '../support/connection.mjs';
import { accessTokens, bearer } from '../support/exchanges.mjs';
import { ADMINISTRATOR } from '../support/json-calls.mjs';
import { cpuMicroseconds } from '../support/process-usage.mjs';
import { table } from '../support/report.mjs';
import { RESIDENTS } from '../support/residents.mjs';
import { median, ratio } from '../support/statistics.mjs';

const SMALL = 1_000;
const LARGE = 100_000;
const PAGES_A_ROUND = 40;
/** The first user is a member of all residents' projects. The second is a member of one project. */
const [MEMBER, LONER] = RESIDENTS;
const CALLERS = [
  ['administrator', ADMINISTRATOR],
  [`member of ${RESIDENTS.length} projects`, MEMBER],
  ['member of one project', LONER],
];

const LISTS = [
  ['by last change', 'sort=updatedAt'],
  ['by last change, active ones', 'sort=updatedAt&active=true'],
  ['by name', 'sort=name'],
  ['by name, inactive ones', 'sort=name&active=false'],
];
const SEARCHES = [
  ['what a fifth has', 'sort=updatedAt&search=ord'],
  ['the same by name', 'sort=name&search=ord'],
  ['what one in 100 has', 'sort=updatedAt&search=percent'],
  ['the same by name', 'sort=name&search=percent'],
  ['what nothing has', 'sort=updatedAt&search=nothing'],
  ['the same by name', 'sort=name&search=nothing'],
];
const COUNTS = [
  ['what a fifth has', 'search=ord'],
  ['what nothing has', 'search=nothing'],
];
const KINDS = [
  ...LISTS.map(([title, query]) => [title, `workflows?limit=50&${query}`]),
  ...SEARCHES.map(([title, query]) => [`search for ${title} (${query})`, `workflows?limit=50&${query}`]),
  ['count', 'workflow-count'],
  ...COUNTS.map(([title, query]) => [`count of ${title}`, `workflow-count?${query}`]),
];

export const workflowLists = {
  name: 'workflow-lists',
  title: `Sorted lists of ${LARGE} workflows against ${SMALL}, one request after another, on PostgreSQL`,

  async run(workbench) {
    const size = Math.max(SMALL, Math.round(LARGE / workbench.options.growthScale));
    const contestants = [
      await startFilled(workbench, 'small', SMALL),
      await startFilled(workbench, 'large', size),
    ];
    const kinds = CALLERS.flatMap(([who], caller) =>
      KINDS.map(([title, target]) => ({
        title: `${who}, ${title}`,
        caller,
        path: `/api/v1/${target}`,
      })),
    );
    const rounds = [];
    for (let round = 0; round <= workbench.options.rounds; round += 1)
      for (const kind of kinds)
        for (const contestant of contestants)
          rounds.push({ round, ...(await costsOf(workbench, contestant, kind)) });
    // Round 0 is the warm-up.
    return summaryOf(
      kinds,
      rounds.filter(({ round }) => round > 0),
    );
  },
};

function summaryOf(kinds, rounds) {
  const sizes = ['small', 'large'];
  const ratios = kinds.flatMap(({ title }) => {
    const names = { over: `${title}, large`, under: `${title}, small` };
    return [
      ratio(rounds, { title, of: 'p50Ms', ...names }),
      ratio(rounds, { title: '  its CPU time', of: 'cpuMicros', ...names }),
    ];
  });
  const rows = kinds.map(({ title }) => {
    const cells = sizes.flatMap((size) => {
      const own = rounds.filter(({ contender }) => contender === `${title}, ${size}`);
      const cpuMs = median(own.map(({ cpuMicros }) => cpuMicros)) / 1000;
      return [median(own.map(({ p50Ms }) => p50Ms)), cpuMs].map((number) => number.toFixed(1));
    });
    return [title, ...cells];
  });
  const headings = ['ms', ...sizes.flatMap((size) => [size, `${size}, CPU`])];
  return { ratios, remarks: [table([headings, ...rows])] };
}

async function startFilled(workbench, name, size) {
  const database = await workbench.newDatabase();
  workbench.tell(`filling ${size} workflows`);
  await workbench.postgres.query(database, MEMBERSHIPS);
  await workbench.postgres.query(database, WORKFLOWS, [size]);
  await workbench.postgres.query(database, 'VACUUM ANALYZE');
  const contestant = await workbench.startService({ name, database });
  const claimSets = CALLERS.map(([, claims]) => claims);
  const tokens = await accessTokens(contestant, workbench.partner, claimSets);
  return { ...contestant, tokens, client: new Connection(contestant.server.origin) };
}

const MEMBERSHIPS = `INSERT INTO project_member
  SELECT project.id, account.id, 'project:viewer' FROM project, user_account account
  WHERE account.email = '${MEMBER.email}' AND project.personal_owner_id <> account.id`;

/** The names contain common and rare words. The times are all different. */
const WORKFLOWS = `INSERT INTO workflow (id, project_id, name, active, nodes, connections, updated_at)
  SELECT gen_random_uuid(), projects.ids[1 + n % cardinality(projects.ids)],
    (ARRAY['Order', 'Invoice', 'Customer', 'Sync', 'Report'])[1 + n % 5] || ' '
      || (ARRAY['import', 'export', 'mail', 'check', 'copy', 'archive', 'notify'])[1 + n % 7] || ' ' || n
      || CASE WHEN n % 100 = 0 THEN ' percent' ELSE '' END,
    n % 3 = 0, '[]', '{}', timestamptz '2026-01-01' + make_interval(secs => n::bigint * 7919 % 1000003)
  FROM generate_series(1, $1::int) n, (SELECT array_agg(id) AS ids FROM project) projects`;

/** CPU time includes the service and the database. */
async function costsOf({ postgres }, { name, client, server, tokens }, { title, caller, path }) {
  const cpu = () => cpuMicroseconds(server.processId) + cpuMicroseconds(postgres.processId);
  const bytes = requestBytes(server.origin, { method: 'GET', path, headers: bearer(tokens[caller]) });
  const times = [];
  const before = cpu();
  for (let page = 0; page < PAGES_A_ROUND; page += 1) {
    const begun = performance.now();
    const { status } = await client.send(bytes);
    times.push(performance.now() - begun);
    assert.equal(status, 200, path);
  }
  const cpuMicros = (cpu() - before) / PAGES_A_ROUND;
  return { contender: `${title}, ${name}`, p50Ms: median(times), cpuMicros };
}
