// The published description of the API against the running service: each operation gives each of its answers.
import { randomUUID } from 'node:crypto';
import { SIGNING_ALGORITHMS } from '../../demo/signing-key.js';
import { VERSION } from '../../src/platform/version.js';
import type { DescribedOperation } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { CONFLICTS, RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld, PARTIES } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { licenseEnvironment } from '../support/license.js';
import { TestService } from '../support/test-service.js';

const DPOP = `DPoP algs="${SIGNING_ALGORITHMS.join(' ')}"`;
const METADATA = 'resource_metadata="https://instance.example/.well-known/oauth-protected-resource"';
const TOO_LARGE = 2 * 1024 * 1024 + 1;

describeOnAnyDatabase('the description of the API', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let admin: string;

  beforeAll(async () => {
    admin = await world.tokenOf('administrator');
  });
  /** Sends a request with one thing about it changed. The client throws at every answer that is not described. */
  const send = async (operation: DescribedOperation, change: object) => {
    const request = await requestFor(RECIPES, operation, world);
    return api.call({ method: operation.method, token: admin, ...request, ...change });
  };
  const operationsWith = (status: number) =>
    api.operations.filter(({ statuses }) => statuses.includes(status));
  const unseen = (operations: readonly DescribedOperation[], status: number) =>
    operations.map(({ method, path }) => `${method} ${path} ${status}`).filter((name) => !api.seen.has(name));

  it('is OpenAPI 3.1, has the version of the service and names every route of the API', async () => {
    const answer = await service.fetch('/api/v1/openapi.json');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toMatchObject({
      openapi: '3.1.0',
      info: { version: VERSION },
      servers: [{ url: 'https://instance.example' }],
    });
    expect(api.operations.length).toBe(Object.keys(RECIPES).length);
  });

  it('each operation succeeds as described', async () => {
    for (const operation of api.operations) await send(operation, {});
    for (const operation of api.operations)
      expect(unseen([operation], Math.min(...operation.statuses))).toEqual([]);
  });

  it('each operation answers 401 with a challenge, without a token and with a bad one', async () => {
    for (const operation of api.operations) {
      const without = await send(operation, { token: undefined });
      const scope = operation.right === undefined ? '' : `scope="${operation.right}", `;
      expect([without.status, without.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer ${scope}${METADATA}, ${DPOP}`,
      ]);
      const bad = await send(operation, { token: 'bad' });
      expect([bad.status, bad.body.error]).toEqual([401, 'invalid_token']);
      expect(bad.headers.get('www-authenticate')).toBe(
        `Bearer error="invalid_token", ${scope}${METADATA}, ${DPOP}`,
      );
    }
    expect(operationsWith(401)).toEqual(api.operations);
  });

  it('answers 400 for bodies and parameters that break a rule', async () => {
    for (const operation of operationsWith(400)) {
      if (operation.hasBody) await send(operation, { body: [] });
      else await send(operation, { path: `${(await requestFor(RECIPES, operation, world)).path}?limit=0` });
    }
    expect(unseen(operationsWith(400), 400)).toEqual([]);
  });

  it('answers 403 for what is seen and not allowed', async () => {
    for (const { name } of PARTIES)
      for (const operation of operationsWith(403))
        await send(operation, { token: await world.tokenOf(name) });
    // A user who is not an administrator sees only their own account.
    const self = { path: `/api/v1/users/${world.idOf('stranger')}`, token: await world.tokenOf('stranger') };
    await api.call({ method: 'PATCH', body: { enabled: false }, ...self });
    // Where everybody may see something, a token may be limited to other things.
    const limited = await world.tokenOf('administrator', { grantedScopes: [] });
    for (const operation of operationsWith(403)) await send(operation, { token: limited });
    const licensed = operationsWith(403).filter(({ feature }) => feature === undefined);
    expect(unseen(licensed, 403)).toEqual([]);
  });

  it('answers 404 for what is not there', async () => {
    for (const operation of operationsWith(404)) {
      const { path, body } = await requestFor(RECIPES, operation, world);
      const elsewhere = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}(?!.*[0-9a-f]{8}-)/, randomUUID());
      const type = elsewhere.replace('/schema/postgres', '/schema/constructor');
      await send(operation, {
        path: type,
        body: elsewhereOf(body),
      });
    }
    expect(unseen(operationsWith(404), 404)).toEqual([]);
  });

  it('answers 409 for what contradicts what is there', async () => {
    const conflicting = api.operations.filter(
      ({ method, path }) => `${method} ${path.slice(7)}` in CONFLICTS,
    );
    for (const operation of conflicting) await send(operation, await requestFor(CONFLICTS, operation, world));
    expect(conflicting.length).toBe(Object.keys(CONFLICTS).length);
    expect(unseen(conflicting, 409)).toEqual([]);
  });

  it('[D57] answers 413 and 415 for bodies that are too large, encoded or not JSON', async () => {
    for (const operation of operationsWith(413)) await send(operation, { body: 'x'.repeat(TOO_LARGE) });
    for (const operation of operationsWith(415))
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])
        await send(operation, { headers: { 'content-type': type } });
    for (const operation of operationsWith(415)) {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      expect((await send(operation, { headers })).status).toBe(415);
    }
    expect(unseen(operationsWith(413), 413)).toEqual([]);
    expect(unseen(operationsWith(415), 415)).toEqual([]);
    expect(operationsWith(415)).toEqual(api.operations.filter(({ hasBody }) => hasBody));
  });

  it('is a page for people, too, of files that the instance itself has', async () => {
    const answer = await service.fetch('/api/v1/docs');
    const html = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:|https?:/i);
    const files = [...html.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(3);
    for (const path of files) expect([path, (await service.fetch(path)).status]).toEqual([path, 200]);
  });

  it('is answered by its tag', async () => {
    const get = (headers: Record<string, string> = {}) => service.fetch('/api/v1/openapi.json', { headers });
    const { headers } = await get();
    expect(headers.get('cache-control')).toBe('no-cache');
    const known = await get({ 'if-none-match': headers.get('etag') ?? '' });
    expect([known.status, await known.text(), known.headers.get('etag')]).toEqual([
      304,
      '',
      headers.get('etag'),
    ]);
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('[D39] answers 403 feature_not_licensed where the licence lacks the feature', async () => {
    await service.restart({ environment: await licenseEnvironment({ features: ['token-exchange'] }) });
    const featured = api.operations.filter(({ feature }) => feature !== undefined);
    const unlicensed = await ApiClient.connect(service);
    const parties = new ApiWorld(service, 'unlicensed');
    const token = await parties.token(await parties.createUser('global:admin'));
    for (const operation of featured) {
      const path = operation.path.replace('{projectId}', randomUUID());
      const answer = await unlicensed.call({ method: operation.method, path, token });
      expect([answer.status, answer.body.error]).toEqual([403, 'feature_not_licensed']);
    }
    expect(featured.map(({ feature }) => feature).sort()).toEqual(['credentials-list', 'project-members']);
  });
});

/** The same body, with the project that it names replaced by one which is not there. */
function elsewhereOf(body: unknown): unknown {
  const namesProject = typeof body === 'object' && body !== null && 'projectId' in body;
  return namesProject ? { ...body, projectId: randomUUID() } : body;
}
