// Calls the public API, and holds every answer against the description that the service itself publishes.
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TestService } from './test-service.js';

type Json = Record<string, unknown>;

/** The format `idn-email`, which ajv-formats lacks: a mailbox of RFC 6531 §3.3, with a domain of several labels. */
const LABEL = '[^\\0-,./:-@[-`{-\\x7f\\s]+';
const INTERNATIONAL_EMAIL = new RegExp(
  `^(?:[^\\s"(),:;<>@[\\\\\\]]+|"(?:[^"\\\\]|\\\\.)+")@${LABEL}(?:\\.${LABEL})+$`,
  'u',
);

/** What JSON.parse answers: a test that misreads it fails by itself. */
export type ParsedJson = ReturnType<typeof JSON.parse>;

/** One operation of the description. */
export interface DescribedOperation {
  readonly method: string;
  /** It contains the names of parameters: `/api/v1/users/{userId}`. */
  readonly path: string;
  readonly right?: string;
  /** The scopes that the description asks of a Bearer. */
  readonly scopes: readonly string[];
  readonly feature?: string;
  readonly hasBody: boolean;
  readonly isList: boolean;
  readonly statuses: readonly number[];
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is empty. */
  readonly body: ParsedJson;
}

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  /** An access token. Without one, the call is anonymous. */
  readonly token?: string;
  readonly body?: unknown;
  /** They complete or replace the headers of token and body. */
  readonly headers?: Record<string, string>;
}

export class ApiClient {
  /** `METHOD path status` of every answer so far. */
  readonly seen = new Set<string>();
  private readonly validators = new Map<string, ValidateFunction>();

  private document!: Json;
  operations!: readonly DescribedOperation[];

  private constructor(private readonly service: TestService) {}

  static async connect(service: TestService): Promise<ApiClient> {
    const client = new ApiClient(service);
    await client.readDescription();
    return client;
  }

  /** Makes a client for all tests of a block. */
  static forBlock(service: TestService): ApiClient {
    const client = new ApiClient(service);
    beforeAll(() => client.readDescription());
    return client;
  }

  /** Must be called again after the service has restarted. */
  async readDescription(): Promise<void> {
    this.document = (await (await this.service.fetch('/api/v1/openapi.json')).json()) as Json;
    this.operations = operationsOf(this.document);
  }

  /** @throws Error when the answer is not one that the description has */
  async call({ method, path, token, body, headers = {} }: ApiCall): Promise<ApiAnswer> {
    const answer = await this.service.fetch(path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const parsed = text === '' ? undefined : (JSON.parse(text) as unknown);
    this.judge(method, path, answer.status, parsed);
    return { status: answer.status, headers: answer.headers, text, body: parsed };
  }

  get(path: string, token?: string): Promise<ApiAnswer> {
    return this.call({ method: 'GET', path, token });
  }

  post(path: string, token: string, body?: unknown): Promise<ApiAnswer> {
    return this.call({ method: 'POST', path, token, body });
  }

  patch(path: string, token: string, body: unknown): Promise<ApiAnswer> {
    return this.call({ method: 'PATCH', path, token, body });
  }

  delete(path: string, token: string): Promise<ApiAnswer> {
    return this.call({ method: 'DELETE', path, token });
  }

  /** All members of a list, page by page. */
  async all(path: string, token: string, limit = 250): Promise<ParsedJson[]> {
    const members: ParsedJson[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: ApiAnswer = await this.get(
        `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
        token,
      );
      if (page.status !== 200) throw new Error(`the list answered ${page.status}: ${page.text}`);
      members.push(...page.body.data);
      cursor = page.body.nextCursor;
    }
    return members;
  }

  private judge(method: string, path: string, status: number, body: unknown): void {
    const operation = this.operations.find(
      (each) => each.method === method && patternOf(each.path).test(path.split('?', 1)[0] ?? ''),
    );
    if (operation === undefined) throw new Error(`${method} ${path} is not described`);
    const name = `${method} ${operation.path} ${status}`;
    if (!operation.statuses.includes(status))
      throw new Error(`${name} is not described: ${JSON.stringify(body)}`);
    const validate = this.validatorOf(operation, status);
    if (validate === undefined ? body !== undefined : !validate(body))
      throw new Error(
        `${name} is not as described: ${JSON.stringify(validate?.errors)} ${JSON.stringify(body)}`,
      );
    this.seen.add(name);
  }

  private validatorOf({ method, path }: DescribedOperation, status: number): ValidateFunction | undefined {
    const paths = this.document['paths'] as ParsedJson;
    const schema = paths[path][method.toLowerCase()].responses[status].content?.['application/json']?.schema;
    if (schema === undefined) return undefined;
    const key = JSON.stringify(schema);
    const known = this.validators.get(key) ?? this.compile(schema);
    this.validators.set(key, known);
    return known;
  }

  /** Stricter than the description in one point: an answer has no member that the description does not tell of. */
  private compile(schema: Json): ValidateFunction {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addFormat('idn-email', INTERNATIONAL_EMAIL);
    const closed = closedSchema({ ...schema, components: this.document['components'] });
    return ajv.compile(closed as object);
  }
}

/** Those of the API; how one comes in is described in the same document. */
function operationsOf(document: Json): DescribedOperation[] {
  const paths = document['paths'] as Record<string, Record<string, ParsedJson>>;
  const own = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/'));
  return own.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      right: operation['x-required-right'],
      scopes: (operation['security'] as { bearer?: string[] }[]).flatMap(({ bearer = [] }) => bearer),
      feature: operation['x-license-feature'],
      hasBody: operation.requestBody !== undefined,
      isList: (operation.parameters as Json[]).some(({ name }) => name === 'cursor'),
      statuses: Object.keys(operation.responses).map(Number),
    })),
  );
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function closedSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closedSchema(value)]),
  );
  const isOpen = closed['properties'] !== undefined && closed['additionalProperties'] === undefined;
  return isOpen && closed['type'] === 'object' ? { ...closed, additionalProperties: false } : closed;
}
