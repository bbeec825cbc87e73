// The types of credential, each with the JSON Schema (2020-12) of its data.
import { Injectable } from '@nestjs/common';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A JSON Schema of one object. */
export interface CredentialSchema {
  readonly $schema: string;
  readonly title: string;
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly [keyword: string]: unknown;
}

/** Longer than any key file, and short enough to encrypt at once. */
const MAX_TEXT_CHARACTERS = 65_536;

const text = { type: 'string', minLength: 1, maxLength: MAX_TEXT_CHARACTERS };
const optionalText = { type: 'string', maxLength: MAX_TEXT_CHARACTERS };
const flag = { type: 'boolean' };
const port = { type: 'integer', minimum: 1, maximum: 65_535 };
const url = { type: 'string', format: 'uri', pattern: '^https?://', maxLength: 2048 };
/** A host name or an IP address. */
const host = { type: 'string', pattern: '^[A-Za-z0-9._:\\-\\[\\]]{1,253}$' };
/** RFC 9110 §5.1 and §5.5: a line break would begin another header. */
const headerName = { type: 'string', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$" };
const headerValue = { ...text, pattern: '^[^\\r\\n\\u0000]*$' };
const sslMode = { type: 'string', enum: ['disable', 'allow', 'require', 'verify-ca', 'verify-full'] };
const pemKey = { ...text, pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----' };

/** By the value of a credential's `type`. */
export const CREDENTIAL_TYPES: ReadonlyMap<string, CredentialSchema> = new Map([
  ['httpBasicAuth', schema('HTTP basic authentication', { user: text, password: text })],
  ['httpBearerAuth', schema('HTTP bearer token', { token: headerValue })],
  ['httpHeaderAuth', schema('HTTP header', { name: headerName, value: headerValue })],
  ['httpQueryAuth', schema('Query parameter', { name: text, value: text })],
  ['jwtAuth', jwtSchema()],
  ['oAuth2Api', oAuth2Schema()],
  ['postgres', databaseSchema('PostgreSQL', { ssl: sslMode })],
  ['mySql', databaseSchema('MySQL', { ssl: flag, caCertificate: optionalText })],
  ['microsoftSql', databaseSchema('Microsoft SQL Server', { domain: optionalText, encrypt: flag })],
  [
    'mongoDb',
    schema('MongoDB', { connectionString: { ...text, pattern: '^mongodb(\\+srv)?://' } }, { database: text }),
  ],
  [
    'redis',
    schema('Redis', { host }, { port, user: text, password: text, database: index(0, 15), ssl: flag }),
  ],
  ['smtp', schema('SMTP', { host, port }, { user: text, password: text, secure: flag, hostName: host })],
  ['imap', schema('IMAP', { host, port, user: text, password: text }, { secure: flag })],
  [
    's3',
    schema(
      'S3 or a compatible store',
      { accessKeyId: text, secretAccessKey: text, region: text },
      { endpoint: url, sessionToken: text, forcePathStyle: flag },
    ),
  ],
  ['slackApi', schema('Slack', { accessToken: headerValue }, { signatureSecret: text })],
  ['githubApi', schema('GitHub', { accessToken: headerValue }, { server: url, user: text })],
  ['openAiApi', schema('OpenAI', { apiKey: headerValue }, { organizationId: text, url })],
  ['anthropicApi', schema('Anthropic', { apiKey: headerValue }, { url })],
  ['sshPassword', schema('SSH with a password', { host, username: text, password: text }, { port })],
  [
    'sshPrivateKey',
    schema(
      'SSH with a private key',
      { host, username: text, privateKey: pemKey },
      { port, passphrase: text },
    ),
  ],
]);

export const CREDENTIAL_TYPE_NAMES: readonly string[] = [...CREDENTIAL_TYPES.keys()];

function schema(
  title: string,
  required: Record<string, object>,
  optional: Record<string, object> = {},
): CredentialSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    type: 'object',
    additionalProperties: false,
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

/** Requires a field. Also declares it, because some readers of schemas expect that of required fields. */
function needing(name: string): object {
  return { properties: { [name]: {} }, required: [name] };
}

function index(minimum: number, maximum: number): object {
  return { type: 'integer', minimum, maximum };
}

function databaseSchema(title: string, special: Record<string, object>): CredentialSchema {
  return schema(title, { host, database: text, user: text, password: text }, { port, ...special });
}

/** A shared secret for HMAC, a private key for all other algorithms. */
function jwtSchema(): CredentialSchema {
  const hmac = ['HS256', 'HS384', 'HS512'];
  const algorithms = [...hmac, 'RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
  return {
    ...schema(
      'JWT',
      { algorithm: { type: 'string', enum: algorithms } },
      { secret: text, privateKey: pemKey, keyId: text },
    ),
    if: { properties: { algorithm: { enum: hmac } } },
    then: needing('secret'),
    else: needing('privateKey'),
  };
}

/** RFC 6749: the code grant needs an authorization endpoint, the client credentials grant a secret. */
function oAuth2Schema(): CredentialSchema {
  const grants = ['authorizationCode', 'pkce', 'clientCredentials'];
  const optional = {
    clientSecret: text,
    authorizationUrl: url,
    scope: optionalText,
    authentication: { type: 'string', enum: ['header', 'body'] },
    accessToken: text,
    refreshToken: text,
  };
  return {
    ...schema(
      'OAuth 2.0',
      { grantType: { type: 'string', enum: grants }, clientId: text, accessTokenUrl: url },
      optional,
    ),
    if: { properties: { grantType: { const: 'clientCredentials' } } },
    then: needing('clientSecret'),
    else: needing('authorizationUrl'),
  };
}

@Injectable()
export class CredentialSchemas {
  private readonly ajv = createAjv();
  private readonly validators = new Map<string, ValidateFunction>();

  /**
   * What is wrong with the data, as a sentence with names of fields and rules, but no value; undefined if it
   * is valid.
   */
  problemOf(type: string, data: object): string | undefined {
    const schema = CREDENTIAL_TYPES.get(type);
    if (schema === undefined) return 'type is not known';
    // Checked first, because the validator reports every error, and the sender chooses the number of unknown
    // fields.
    if (unknownNames(data, schema).length > 0) return unknownMember(schema);
    const validate = this.validatorOf(type, schema);
    if (validate(data)) return undefined;
    const error = firstOf(validate.errors ?? []);
    return error === undefined ? 'data is not valid' : sentenceOf(error);
  }

  /** What is wrong with a patch, judged by its names alone. Null may remove a field of any name. */
  problemOfPatch(type: string, patch: Readonly<Record<string, unknown>>): string | undefined {
    const schema = CREDENTIAL_TYPES.get(type);
    if (schema === undefined) return 'type is not known';
    const isUnknown = unknownNames(patch, schema).some((name) => patch[name] !== null);
    return isUnknown ? unknownMember(schema) : undefined;
  }

  /** Compiled on first use: a schema takes some milliseconds, and few types are ever used. */
  private validatorOf(type: string, schema: CredentialSchema): ValidateFunction {
    const validate = this.validators.get(type) ?? this.ajv.compile(schema);
    this.validators.set(type, validate);
    return validate;
  }
}

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  return ajv;
}

/** The error to report. A condition may fail only because of a field that another rule describes better. */
function firstOf(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors.find(({ schemaPath }) => !/^#\/(if|then|else)/.test(schemaPath)) ?? errors[0];
}

function unknownNames(data: object, { properties }: CredentialSchema): string[] {
  return Object.keys(data).filter((name) => !Object.hasOwn(properties, name));
}

function unknownMember({ properties }: CredentialSchema): string {
  return `data has an unknown property; known are ${Object.keys(properties).join(', ')}`;
}

function sentenceOf({ keyword, instancePath, params, message }: ErrorObject): string {
  const member = `data${instancePath.replaceAll('/', '.')}`;
  const { missingProperty, allowedValues } = params as { missingProperty?: string; allowedValues?: string[] };
  if (keyword === 'required') return `${member}.${missingProperty ?? ''} is required`;
  if (keyword === 'enum') return `${member} must be one of ${allowedValues?.join(', ') ?? ''}`;
  // ajv's other messages quote the schema, never the value.
  return `${member} ${message ?? 'is not valid'}`;
}
