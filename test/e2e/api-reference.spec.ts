// What the description of the API tells beyond its answers, for those who read it and for programs that make clients of it.
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { AUDIT_EVENT_NAMES } from '../../src/audit/instance-events.js';
import { checkReason } from '../../src/audit/trail-filter.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/instance.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

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

describeOnEachDatabase('the description of the API', (database) => {
  const service = TestService.forBlock(database);
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
    const ofTypes = description.components.schemas['NewCredentialBody']?.oneOf?.map(({ $ref }) => $ref) ?? [];
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
    const world = new ApiWorld(service, 'me');
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

  it('[D84] lets names of events and their beginnings pass as a filter, and nothing that is none', () => {
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
    const world = new ApiWorld(service, 'reference');
    const token = await world.token(await world.createUser('global:admin'));
    const bodies = description.components.schemas['NewCredentialBody']?.oneOf ?? [];
    expect(bodies).toHaveLength(20);
    for (const { $ref } of bodies) {
      const { type, data } = schemaNamed($ref).properties ?? {};
      const [name] = (type as { enum: string[] }).enum;
      const answer = await service.fetch(`/api/v1/credentials/schema/${String(name)}`, {
        headers: { authorization: `Bearer ${token}` },
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

describeOnEachDatabase('the description of an instance without the feature', (database) => {
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

async function describedBy(service: TestService): Promise<Description> {
  return (await (await service.fetch('/api/v1/openapi.json')).json()) as Description;
}
