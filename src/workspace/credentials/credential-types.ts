// The types of credential, each with the JSON Schema (2020-12) of its data.

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
