// Every route of a running service, with a valid request and all hostile requests.
import { FORM } from './exchanges.mjs';
import {
  FLOWS,
  hostileBodies,
  hostileCredentials,
  hostileForms,
  hostileHeaders,
  hostileQueries,
  hostileTokens,
  ROUTES,
} from './hostile-requests.mjs';
import { loginAdministrator } from './json-calls.mjs';
import { RESIDENTS } from './residents.mjs';

const DATA = { user: 'ada', password: 'correct horse' };
const CREDENTIALS = 'POST /api/v1/credentials';

/** @returns `method`, `path`, `headers` and `hostile` for each route, and `good`, which makes a valid body if the route has one */
export async function hostileRoutes(contestant, partner) {
  const administrator = await loginAdministrator(contestant, partner);
  const operations = operationsOf(await administrator.call('/openapi.json'));
  const things = await makeThings(administrator);
  const schemas = await credentialSchemas(administrator, operations);
  return [
    ...FLOWS.map((flow) => flowRoute(flow, partner)),
    ...operations
      .filter((operation) => operation.schemas.length > 0)
      .map((operation) => bodyRoute(operation, things, administrator, schemas)),
    ...ROUTES.map((route) => plainRoute(route, administrator, hostileHeaders())),
    ...operations
      .filter(({ queries }) => queries.length > 0)
      .map(({ method, path, queries }) =>
        plainRoute([method, filledIn(path, things), queries], administrator),
      ),
  ];
}

/** The operations in the API's description, with their body schemas and query parameters. */
function operationsOf({ paths, components }) {
  const own = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/'));
  return own.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters }]) => ({
      method: method.toUpperCase(),
      path,
      schemas: requestBody
        ? schemasNamed(components, requestBody.content['application/json'].schema.$ref)
        : [],
      queries: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    })),
  );
}

function schemasNamed(components, reference) {
  const schema = components.schemas[reference.split('/').at(-1)];
  return schema.oneOf ? schema.oneOf.flatMap(({ $ref }) => schemasNamed(components, $ref)) : [schema];
}

function flowRoute(flow, partner) {
  const sign = (claims) => partner.sign('ES256', { ...RESIDENTS[0], ...claims });
  return {
    ...FORM,
    path: flow.path,
    good: async () => flow.formOf(await sign({})),
    hostile: [...hostileForms(flow), ...hostileTokens(flow, sign)],
  };
}

/** The first schema is enough: several differ only in their data, which `dataSchemas` covers. */
function bodyRoute({ method, path, schemas: [schema] }, things, { jsonHeaders }, dataSchemas) {
  const name = `${method} ${path}`;
  const body = goodBodies(things)[name];
  if (body === undefined) throw new Error(`There is no good body for ${name}.`);
  return {
    method,
    path: filledIn(path, things),
    headers: jsonHeaders,
    good: () => JSON.stringify(body),
    hostile: [
      ...hostileBodies(schema, body),
      ...(name === CREDENTIALS ? hostileCredentials(dataSchemas, body) : []),
    ],
  };
}

/** A route without a body. */
function plainRoute([method, path, parameters], { headers }, hostile = []) {
  return {
    method,
    path,
    headers: method === 'POST' ? { ...FORM.headers, ...headers } : headers,
    hostile: [...hostile, ...hostileQueries(parameters)],
  };
}

/** Creates the resources that API paths refer to, and returns their ids. */
async function makeThings(administrator) {
  const api = async (path, body) => (await administrator.call(path, body)).id;
  const userId = await api('/users', { email: 'somebody@partner.example' });
  const projectId = await api('/projects', { name: 'Team' });
  await api(`/projects/${projectId}/users`, { userId, role: 'project:viewer' });
  const workflowId = await api('/workflows', { name: 'Workflow', projectId });
  const credential = { name: 'Credential', type: 'httpBasicAuth', data: DATA, projectId };
  return { userId, projectId, workflowId, credentialId: await api('/credentials', credential) };
}

/** The valid bodies by `METHOD path`. */
function goodBodies({ userId, projectId }) {
  return {
    'POST /api/v1/users': { email: 'another@partner.example' },
    'PATCH /api/v1/users/{userId}': { role: 'global:admin' },
    'POST /api/v1/projects': { name: 'New' },
    'PATCH /api/v1/projects/{projectId}': { name: 'Renamed' },
    'POST /api/v1/projects/{projectId}/users': { userId, role: 'project:viewer' },
    'PATCH /api/v1/projects/{projectId}/users/{userId}': { role: 'project:editor' },
    'POST /api/v1/workflows': { name: 'New', projectId },
    'PATCH /api/v1/workflows/{workflowId}': { name: 'Changed' },
    [CREDENTIALS]: { name: 'New', type: 'httpBasicAuth', data: DATA, projectId },
    'PATCH /api/v1/credentials/{credentialId}': { isPartialData: true, data: { password: 'another' } },
  };
}

/** The schemas of credentials' data by type. */
async function credentialSchemas(administrator, operations) {
  const { schemas } = operations.find(({ method, path }) => `${method} ${path}` === CREDENTIALS);
  const types = schemas.flatMap(({ properties }) => properties.type.enum);
  const read = async (type) => [type, await administrator.call(`/credentials/schema/${type}`)];
  return Object.fromEntries(await Promise.all(types.map(read)));
}

function filledIn(path, things) {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => things[name]);
}

/** The route's method and path. Ids in the path are replaced by `{id}`. */
export function titleOf({ method, path }) {
  return `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, '{id}')}`;
}
