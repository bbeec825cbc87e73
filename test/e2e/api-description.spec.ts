// The published description of the API against the running service: each operation gives each of its answers, and the description has
// examples, links and schemas.
import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { SIGNING_ALGORITHMS } from '../../demo/signing-key.js';
import { AUDIT_EVENT_NAMES } from '../../src/audit/instance-events.js';
import { checkReason } from '../../src/audit/trail-filter.js';
import { VERSION } from '../../src/platform/version.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/instance.js';
import type { DescribedOperation } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { CONFLICTS, RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld, PARTIES } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { licenseEnvironment } from '../support/license.js';
import { TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const DPOP = `DPoP algs="${SIGNING_ALGORITHMS.join(' ')}"`;
const METADATA = 'resource_metadata="https://instance.example/.well-known/oauth-protected-resource"';
const TOO_LARGE = 2 * 1024 * 1024 + 1;

interface Described {
  readonly description?: string;
}
interface Operation extends Described {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly (Described & { readonly name: string; readonly schema: object })[];
  readonly responses: Readonly<Record<string, Described & { readonly links?: object }>>;
}
interface Schema extends Described {
  readonly properties?: Readonly<Record<string, Described & { readonly $ref?: string }>>;
  readonly oneOf?: readonly { readonly $ref: string }[];
  readonly [keyword: string]: unknown;
}
interface Description {
  readonly info: Readonly<Record<string, unknown>>;
  readonly tags: readonly (Described & { readonly name: string })[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, Described>>;
  };
}

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

  describe('the document', () => {
    let description: Description;
    let operations: Operation[];

    beforeAll(async () => {
      description = await describedBy(service);
      operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
    });
    const schemaNamed = (reference = '') => {
      const schema = description.components.schemas[reference.slice(reference.lastIndexOf('/') + 1)];
      if (schema === undefined) throw new Error(`there is no schema ${reference}`);
      return schema;
    };
    const validatorOf = (name: string) => {
      const ajv = new Ajv2020({ strict: false });
      addFormats.default(ajv);
      const { components } = description;
      return ajv.compile({ $ref: `#/components/schemas/${name}`, components });
    };

    /** The schema of a filter of the audit trail. */
    const filterNamed = (wanted: string) =>
      description.paths['/api/v1/audit-events']?.['get']?.parameters?.find(({ name }) => name === wanted)
        ?.schema;

    it('has of every body and answer an example, which is one', () => {
      const ofTypes =
        description.components.schemas['NewCredentialBody']?.oneOf?.map(({ $ref }) => $ref) ?? [];
      const shown = Object.keys(description.components.schemas).filter(
        (name) => /(Body|Answer)$/.test(name) && !ofTypes.includes(`#/components/schemas/${name}`),
      );
      expect(shown.length).toBeGreaterThan(15);
      for (const name of shown) {
        const examples = (description.components.schemas[name]?.['examples'] ?? []) as unknown[];
        expect([name, examples.length]).toEqual([name, 1]);
        const validate = validatorOf(name);
        expect([name, validate(examples[0]), validate.errors]).toEqual([name, true, null]);
      }
    });

    it('describes the answer of /rest/me as it is', async () => {
      const authorization = `Bearer ${await world.token(await world.createUser())}`;
      const answer = await service.fetch('/rest/me', { headers: { authorization } });
      const responses = description.paths['/rest/me']?.['get']?.responses as
        Record<string, { content: { 'application/json': { schema: object } } }> | undefined;
      const ajv = new Ajv2020({ strict: false });
      addFormats.default(ajv);
      const validate = ajv.compile(responses?.['200']?.content['application/json'].schema ?? false);
      expect([validate(await answer.json()), validate.errors]).toEqual([true, null]);
      expect(validate({})).toBe(false);
    });

    it('[D84] lists the reasons that pass as a filter, and no other', () => {
      const { enum: reasons = [] } = filterNamed('reason') as { enum?: string[] };
      expect(reasons).toEqual(expect.arrayContaining(['token_expired', 'revoked', 'internal_error']));
      expect(reasons.filter((reason) => !('value' in checkReason(reason)))).toEqual([]);
      expect(Object.keys(TOKEN_REFUSALS).filter((reason) => !reasons.includes(reason))).toEqual([]);
    });

    it('[D84] allows event names and their beginnings as a filter, and nothing else', () => {
      const { pattern = '' } = filterNamed('event') as { pattern?: string };
      const passes = (text: string) => new RegExp(pattern, 'u').test(text);
      expect([...AUDIT_EVENT_NAMES, 'token-exchange.*', '*'].filter((name) => !passes(name))).toEqual([]);
      expect(['a b', '*a', 'A', 'ü', 'a*b'].filter(passes)).toEqual([]);
    });

    it('gives an empty cursor no chance, and a change without a member none', () => {
      const cursors = operations.flatMap(({ parameters = [] }) =>
        parameters.filter(({ name }) => name === 'cursor'),
      );
      expect(cursors.length).toBeGreaterThan(3);
      for (const { schema } of cursors)
        expect(schema).toMatchObject({ minLength: 1, pattern: '^[A-Za-z0-9_-]+$' });
      const longest = new Set(cursors.map(({ schema }) => (schema as { maxLength: number }).maxLength));
      expect([...longest]).toEqual([50, 732, 48]);
      for (const name of ['UserChangeBody', 'WorkflowChangeBody', 'CredentialChangeBody'])
        expect([name, validatorOf(name)({})]).toEqual([name, false]);
    });

    it('reports for each type of credential which data it takes, as the service checks it', async () => {
      const bodies = description.components.schemas['NewCredentialBody']?.oneOf ?? [];
      expect(bodies).toHaveLength(20);
      for (const { $ref } of bodies) {
        const { type, data } = schemaNamed($ref).properties ?? {};
        const [name] = (type as { enum: string[] }).enum;
        const answer = await service.fetch(`/api/v1/credentials/schema/${String(name)}`, {
          headers: { authorization: `Bearer ${admin}` },
        });
        const { properties, required } = (await answer.json()) as Schema;
        expect([name, schemaNamed(data?.$ref)]).toEqual([
          name,
          expect.objectContaining({ properties, required }),
        ]);
      }
    });

    it('takes data of the type of a credential only, and no change of a part without data', () => {
      const otherData = { name: 'x', type: 'httpBasicAuth', data: { token: 'a' } };
      expect(validatorOf('NewCredentialBody')(otherData)).toBe(false);
      const isChange = validatorOf('CredentialChangeBody');
      expect(isChange({ isPartialData: true, data: {} })).toBe(true);
      expect(isChange({ name: 'x', isPartialData: true })).toBe(false);
    });

    it('links what makes a thing with everything that can be done to it, and names all of its path', () => {
      const { paths } = description;
      const makers = Object.entries(paths).filter(([, { post }]) => post?.responses['201'] !== undefined);
      expect(makers.map(([path]) => path)).toHaveLength(5);
      for (const [list, { post }] of makers) {
        const ofOne = Object.entries(paths).filter(
          ([path]) => path.startsWith(`${list}/{`) && !path.slice(list.length + 2).includes('{'),
        );
        const expected = ofOne.flatMap(([path, methods]) =>
          Object.values(methods).map(({ operationId }) => {
            const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
            const id = names.pop() ?? '';
            const parents = names.map((name) => [name, `$request.path.${name}`]);
            return [
              operationId,
              { operationId, parameters: Object.fromEntries([...parents, [id, '$response.body#/id']]) },
            ];
          }),
        );
        expect(post?.responses['201']?.links).toEqual(Object.fromEntries(expected));
      }
    });
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

describeOnAnyDatabase('the description of an instance without the feature', (database) => {
  it('[1.4] has no way in that is not there', async () => {
    const environment = { SVC_ENV_FEAT_TOKEN_EXCHANGE: undefined };
    await withService(database, { environment }, async (service) => {
      const { paths, tags } = await describedBy(service);
      expect(Object.keys(paths).filter((path) => !path.startsWith('/api/v1/'))).toEqual([
        '/rest/me',
        '/rest/auth/logout',
      ]);
      expect(tags.map(({ name }) => name)).not.toContain('Tokens');
    });
  });
});

/** The same body, with the project that it names replaced by one which is not there. */
function elsewhereOf(body: unknown): unknown {
  const namesProject = typeof body === 'object' && body !== null && 'projectId' in body;
  return namesProject ? { ...body, projectId: randomUUID() } : body;
}

async function describedBy(service: TestService): Promise<Description> {
  return (await (await service.fetch('/api/v1/openapi.json')).json()) as Description;
}
