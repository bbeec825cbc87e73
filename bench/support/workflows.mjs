// Creates workflows in every user's personal project, and reads pages of them with access tokens.
import { accessTokens, bearer } from './exchanges.mjs';
import { logins, RESIDENTS } from './residents.mjs';

/** Access tokens are renewed after this time, so that none expires during a round. */
const RENEWAL_MS = 600_000;

export const WORKFLOWS_PER_PROJECT = 50;
/** A workflow of ordinary size has a trigger and a request. */
const NODES = [
  { id: 'a', name: 'Start', type: 'manualTrigger', position: [0, 0], parameters: {} },
  {
    id: 'b',
    name: 'Fetch orders',
    type: 'httpRequest',
    position: [220, 0],
    parameters: { method: 'GET', url: 'https://shop.example/orders' },
  },
];
const CONNECTIONS = { Start: { main: [[{ node: 'Fetch orders', type: 'main', index: 0 }]] } };

/** Inserts workflows. Databases with the same projects get the same workflows and ids. */
export async function addWorkflows({ postgres }, { database }) {
  await insertWorkflows({ query: (text, values) => postgres.query(database, text, values) });
  await postgres.query(database, 'VACUUM ANALYZE');
}

/** @param projects a statement that selects the ids of the projects that get workflows */
export async function insertWorkflows(client, projects = 'SELECT id FROM project') {
  await client.query(
    `INSERT INTO workflow (id, project_id, name, active, nodes, connections, created_at, updated_at)
     SELECT md5(project.id::text || number)::uuid, project.id, 'Workflow ' || number, number % 2 = 0, $1, $2,
       timestamptz '2026-01-01', timestamptz '2026-01-01'
     FROM (${projects}) project CROSS JOIN generate_series(1, $3::int) number`,
    [JSON.stringify(NODES), JSON.stringify(CONNECTIONS), WORKFLOWS_PER_PROJECT],
  );
}

/**
 * A load of requests for the first page of workflows, with a thousand access tokens in turn.
 * @param claimSets makes the claims of a number of users. Default: the known users
 */
export function workflowCalls(contestant, partner, claimSets = logins) {
  let tokens;
  let renewAt = 0;
  return {
    method: 'GET',
    path: '/api/v1/workflows?limit=20',
    expectedStatus: 200,
    requests: async (count) => {
      if (Date.now() >= renewAt) {
        renewAt = Date.now() + RENEWAL_MS;
        tokens = await accessTokens(contestant, partner, claimSets(RESIDENTS.length));
      }
      return Array.from({ length: count }, (_, index) => ({
        headers: bearer(tokens[index % tokens.length]),
      }));
    },
  };
}
