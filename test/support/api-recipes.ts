// Lists a call on fresh objects for every operation of the public API, as an administrator may make it.
import type { ApiWorld } from './api-world.js';
import { BASIC_AUTH } from './api-world.js';

export interface Request {
  readonly path: string;
  readonly body?: unknown;
}

type Recipe = (world: ApiWorld) => Promise<Request> | Request;

const API = '/api/v1';

/** The recipes by `METHOD path`, as in the description. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  'GET /users': () => ({ path: '/users' }),
  'POST /users': (world) => ({ path: '/users', body: { email: world.freshEmail() } }),
  'GET /users/{userId}': async (world) => ({ path: `/users/${await world.createUser()}` }),
  'PATCH /users/{userId}': async (world) => ({
    path: `/users/${await world.createUser()}`,
    body: { enabled: false, role: 'global:admin' },
  }),

  'GET /projects': () => ({ path: '/projects' }),
  'POST /projects': () => ({ path: '/projects', body: { name: 'New' } }),
  'GET /projects/{projectId}': async (world) => ({ path: `/projects/${await world.createProject()}` }),
  'PATCH /projects/{projectId}': async (world) => ({
    path: `/projects/${await world.createProject()}`,
    body: { name: 'Renamed' },
  }),
  'DELETE /projects/{projectId}': async (world) => ({ path: `/projects/${await world.createProject()}` }),

  'GET /projects/{projectId}/users': async (world) => ({
    path: `/projects/${await world.createProject()}/users`,
  }),
  'POST /projects/{projectId}/users': async (world) => ({
    path: `/projects/${await world.createProject()}/users`,
    body: { userId: await world.createUser(), role: 'project:viewer' },
  }),
  'PATCH /projects/{projectId}/users/{userId}': async (world) => ({
    path: await pathOfNewMember(world),
    body: { role: 'project:editor' },
  }),
  'DELETE /projects/{projectId}/users/{userId}': async (world) => ({ path: await pathOfNewMember(world) }),

  'GET /workflows': () => ({ path: '/workflows' }),
  'GET /workflow-count': () => ({ path: '/workflow-count' }),
  'POST /workflows': async (world) => ({
    path: '/workflows',
    body: { name: 'New', projectId: await world.createProject() },
  }),
  'GET /workflows/{workflowId}': async (world) => ({ path: await pathOfNewWorkflow(world) }),
  'PATCH /workflows/{workflowId}': async (world) => ({
    path: await pathOfNewWorkflow(world),
    body: { name: 'Changed' },
  }),
  'DELETE /workflows/{workflowId}': async (world) => ({ path: await pathOfNewWorkflow(world) }),
  'POST /workflows/{workflowId}/activate': async (world) => ({
    path: `${await pathOfNewWorkflow(world)}/activate`,
  }),
  'POST /workflows/{workflowId}/deactivate': async (world) => ({
    path: `${await pathOfNewWorkflow(world)}/deactivate`,
  }),

  'GET /audit-events': () => ({ path: '/audit-events' }),

  'GET /credentials': () => ({ path: '/credentials' }),
  'GET /credentials/schema/{type}': () => ({ path: '/credentials/schema/postgres' }),
  'POST /credentials': async (world) => ({
    path: '/credentials',
    body: { name: 'New', type: 'httpBasicAuth', data: BASIC_AUTH, projectId: await world.createProject() },
  }),
  'GET /credentials/{credentialId}': async (world) => ({ path: await pathOfNewCredential(world) }),
  'PATCH /credentials/{credentialId}': async (world) => ({
    path: await pathOfNewCredential(world),
    body: { isPartialData: true, data: { password: 'another' } },
  }),
  'DELETE /credentials/{credentialId}': async (world) => ({ path: await pathOfNewCredential(world) }),
};

/** Calls that conflict with existing data. */
export const CONFLICTS: Readonly<Record<string, Recipe>> = {
  'POST /users': async (world) => {
    const email = world.freshEmail();
    await world.createUser('global:member', email);
    return { path: '/users', body: { email: email.toUpperCase() } };
  },
  'PATCH /users/{userId}': (world) => ({ path: `/users/${world.idOf('owner')}`, body: { enabled: false } }),
  'PATCH /projects/{projectId}': async (world) => ({
    path: await pathOfPersonalProject(world),
    body: { name: 'Mine' },
  }),
  'DELETE /projects/{projectId}': async (world) => ({ path: await pathOfPersonalProject(world) }),
  'POST /projects/{projectId}/users': async (world) => ({
    path: `/projects/${await world.createProject()}/users`,
    body: { userId: world.idOf('viewer'), role: 'project:admin' },
  }),
  'PATCH /projects/{projectId}/users/{userId}': async (world) => ({
    path: `${await pathOfPersonalProject(world)}/users/${world.idOf('viewer')}`,
    body: { role: 'project:viewer' },
  }),
  'DELETE /projects/{projectId}/users/{userId}': async (world) => ({
    path: `${await pathOfPersonalProject(world)}/users/${world.idOf('viewer')}`,
  }),
};

/** What a recipe makes for one operation, with the prefix of the API. */
export async function requestFor(
  recipes: Readonly<Record<string, Recipe>>,
  { method, path }: { method: string; path: string },
  world: ApiWorld,
): Promise<Request> {
  const recipe = recipes[`${method} ${path.slice(API.length)}`];
  if (recipe === undefined) throw new Error(`there is no recipe for ${method} ${path}`);
  const request = await recipe(world);
  return { ...request, path: API + request.path };
}

async function pathOfNewMember(world: ApiWorld): Promise<string> {
  const [projectId, userId] = [await world.createProject(), await world.createUser()];
  await world.addMember(projectId, userId, 'project:viewer');
  return `/projects/${projectId}/users/${userId}`;
}

async function pathOfNewWorkflow(world: ApiWorld): Promise<string> {
  return `/workflows/${await world.createWorkflow(await world.createProject())}`;
}

async function pathOfNewCredential(world: ApiWorld): Promise<string> {
  return `/credentials/${await world.createCredential(await world.createProject())}`;
}

async function pathOfPersonalProject(world: ApiWorld): Promise<string> {
  return `/projects/${await world.personalProjectOf(world.idOf('viewer'))}`;
}
