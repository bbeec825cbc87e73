// Every environment variable of the service, one row each, from which docs/configuration.md is written. What the package of
// token exchange has a setting for refers to that; the rows of the audit trail are in audit-variables.ts.
import { SETTINGS } from '../token-exchange/instance.js';
import { MOST_ORIGINS_CHARACTERS } from '../platform/text/origin.js';
import {
  checkDatabaseUrl,
  checkOrigin,
  checkOriginsTogether,
  parseCidr,
  parseEncryptionKey,
  parseOrigin,
} from './variable-formats.js';
import { AUDIT_VARIABLES } from './audit-variables.js';
import type { EnvironmentVariable } from './variable.js';
import {
  boolean,
  choice,
  exactFlag,
  integer,
  list,
  text,
  textDocument,
  textWithDefault,
} from './variable.js';

/**
 * The variables by the name that code uses. Each may also be given as `NAME_FILE`, the path of a file that holds
 * the value. Every default stands here, also where the rule that needs it is tagged at the code that obeys it (8.3 to 8.6).
 * @rule 5.1.1 = D40 The feature flag must be exactly `true`. See instance/token-exchange.modules.ts for what it turns on.
 * @rule D43 Addresses and ports. See `defaultBaseUrl` in load-config.ts for the base address.
 * @rule D44 Ranges of the numeric settings.
 */
export const VARIABLES = {
  // Availability
  featureFlag: exactFlag('SVC_ENV_FEAT_TOKEN_EXCHANGE', {
    description: 'Turns the whole feature on (preview).',
  }),
  license: textDocument('SVC_LICENSE', {
    description: 'Licence: a compact JWS, as `svc-admin license issue` creates it.',
    isSecret: true,
  }),
  licensePublicKey: textDocument('SVC_LICENSE_PUBLIC_KEY', {
    description: 'Public key of the licence vendor, PEM (Ed25519).',
  }),

  // The flows
  embedLoginEnabled: boolean('SVC_EMBED_LOGIN_ENABLED', {
    description: 'Turns embedded login (`/rest/auth/embed`) on.',
    default: false,
  }),
  idAssertionEnabled: boolean('SVC_ID_ASSERTION_ENABLED', {
    description:
      'Lets the token endpoint accept identity assertions (ID-JAG) under trusted key entries that allow them, independently of the other two switches. See [id-jag.md](id-jag.md).',
    default: false,
  }),
  exchangeEnabled: boolean('SVC_TOKEN_EXCHANGE_ENABLED', {
    description: 'Turns token exchange (`/rest/auth/oauth/token`) on.',
    default: false,
  }),
  trustedKeys: textDocument('SVC_TOKEN_EXCHANGE_TRUSTED_KEYS', {
    description: 'Trusted key entries, a JSON array; required when the feature is on.',
    isSecret: true,
  }),
  maxTokenLifetimeSeconds: integer(
    'SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL',
    SETTINGS.exchange.maxTokenLifetimeSeconds,
  ),
  embedLoginsPerMinute: integer('SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE', SETTINGS.embedLogin.perMinute),
  exchangesPerMinute: integer('SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE', SETTINGS.exchange.perMinute),
  introspectionsPerMinute: integer(
    'SVC_TOKEN_EXCHANGE_INTROSPECTION_PER_MINUTE',
    SETTINGS.tokenIntrospection.perMinute,
  ),
  logoutsPerMinute: integer('SVC_TOKEN_EXCHANGE_LOGOUT_PER_MINUTE', SETTINGS.logout.perMinute),
  apiCallsPerMinute: integer('SVC_API_CALLS_PER_MINUTE', {
    description:
      'Maximum number of calls per minute at `/api/v1`, for each user; with an actor, for each pair of actor and subject.',
    default: 600,
    min: 1,
    max: 1_000_000,
  }),
  throttleStore: choice('SVC_THROTTLE_STORE', {
    description:
      'Where requests are counted: in each instance by itself, or in the database for all instances.',
    default: 'memory',
    values: ['memory', 'database'],
  }),
  strict: boolean('SVC_TOKEN_EXCHANGE_STRICT', {
    description:
      'Refuses what a trusted key entry does not allow, and answers a login by GET with 405. Recommended for every new instance.',
    default: false,
  }),

  dpopNonce: boolean('SVC_DPOP_NONCE', SETTINGS.accessTokens.dpopNonce),

  // Limits (docs/limits.md has all of them)
  maxConnections: integer('SVC_MAX_CONNECTIONS', {
    description:
      'Maximum number of client connections at one time; the service closes any further one without an answer.',
    default: 4_096,
    min: 1,
    max: 1_000_000,
  }),
  keepAliveSeconds: integer('SVC_KEEP_ALIVE_SECONDS', {
    description:
      'How long a connection stays open without a request, in seconds; it must be longer than in the reverse proxy in front.',
    default: 72,
    min: 1,
    max: 3600,
  }),
  maxRequestsInProgress: integer('SVC_MAX_REQUESTS_IN_PROGRESS', {
    description: 'Maximum number of requests in progress in a process; any further one gets 503 at once.',
    default: 4_000,
    min: 1,
    max: 100_000,
  }),
  maxWorkflowsPerProject: integer('SVC_MAX_WORKFLOWS_PER_PROJECT', {
    description: 'Maximum number of workflows of a project.',
    default: 2000,
    min: 1,
    max: 1_000_000,
  }),
  maxProjectsPerUser: integer('SVC_MAX_PROJECTS_PER_USER', {
    description: 'Maximum number of projects of which one user is a member, the personal one included.',
    default: 100,
    min: 2,
    max: 1_000_000,
  }),
  maxSessionsPerUser: integer('SVC_EMBED_MAX_SESSIONS_PER_USER', SETTINGS.sessions.maxPerUser),

  // Sessions
  sessionLifetimeSeconds: integer('SVC_EMBED_SESSION_TTL_SECONDS', SETTINGS.sessions.lifetimeSeconds),
  partitionedCookie: boolean('SVC_EMBED_COOKIE_PARTITIONED', SETTINGS.sessions.partitioned),
  frameAncestors: list('SVC_EMBED_FRAME_ANCESTORS', {
    description:
      'Origins that may frame the instance, beside the `origins` of trusted key entries. Without either, ' +
      'framing is left to a reverse proxy while embedded login is on, and forbidden while it is off.',
    range: `comma-separated origins: \`https://host[:port]\`; at most ${MOST_ORIGINS_CHARACTERS} characters`,
    member: parseOrigin,
    check: checkOriginsTogether,
  }),

  // The operator's page
  adminEnabled: boolean('SVC_ADMIN_ENABLED', {
    description:
      'Turns the page for operators (`/admin`) and its API (`/rest/admin`) on; off, both answer 404. The owner and administrators ' +
      'sign in there with a password of their own.',
    default: false,
  }),

  // Keys fetched from partners
  keyRefreshIntervalSeconds: integer(
    'SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS',
    SETTINGS.jwks.refreshIntervalSeconds,
  ),
  jwksAllowHttp: boolean('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP', SETTINGS.jwks.allowHttp),
  jwksAllowPrivate: list('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE', {
    description: SETTINGS.jwks.allowPrivate.description,
    range: 'comma-separated CIDR ranges',
    member: parseCidr,
  }),

  // Replay records
  jtiCleanupIntervalSeconds: integer(
    'SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS',
    SETTINGS.replayPurge.intervalSeconds,
  ),
  jtiCleanupBatchSize: integer('SVC_TOKEN_EXCHANGE_JTI_CLEANUP_BATCH_SIZE', SETTINGS.replayPurge.batchSize),

  // Addresses
  baseUrl: text('SVC_BASE_URL', {
    description:
      'Address under which browsers and partners reach the instance; `http://localhost:PORT` if unset, with a ' +
      'certificate `https://localhost:PORT`.',
    range: 'an origin: `http(s)://host[:port]`',
    check: checkOrigin,
  }),
  host: textWithDefault('SVC_HOST', { description: 'Address to listen on.', default: '127.0.0.1' }),
  port: integer('SVC_PORT', {
    alias: 'PORT',
    description: 'TCP port to listen on; 0 picks a free one. `PORT` works too.',
    default: 5678,
    min: 0,
    max: 65_535,
  }),
  metricsHost: textWithDefault('SVC_METRICS_HOST', {
    description: 'Address to listen on for metrics.',
    default: '127.0.0.1',
  }),
  metricsPort: integer('SVC_METRICS_PORT', {
    description:
      'TCP port of the listener for `/metrics`, without HTTPS; 0 for none. If another process has the default port, the ' +
      'service starts without metrics; if it has a port that you set, the service does not start.',
    default: 9464,
    min: 0,
    max: 65_535,
  }),
  tlsCertificate: textDocument('SVC_SSL_CERT', {
    description: 'Certificate for serving HTTPS directly, PEM, with its chain. Needs `SVC_SSL_KEY`.',
  }),
  tlsKey: textDocument('SVC_SSL_KEY', { description: 'Private key of `SVC_SSL_CERT`, PEM.', isSecret: true }),
  proxyHops: integer('SVC_PROXY_HOPS', {
    description:
      'Number of reverse proxies whose `X-Forwarded-*` headers the service trusts. Above 0 it trusts `X-Request-Id` too, so the first proxy must overwrite it.',
    default: 0,
    min: 0,
    max: 10,
  }),

  // Stop
  shutdownDelaySeconds: integer('SVC_SHUTDOWN_DELAY_SECONDS', {
    description:
      'How long the service goes on listening after SIGTERM, in seconds: load balancers must notice in this time that the ' +
      'instance is not ready.',
    default: 0,
    min: 0,
    max: 300,
  }),

  // Storage
  databaseUrl: text('SVC_DATABASE_URL', {
    description: 'PostgreSQL connection URL; without one the embedded database is used.',
    range: '`postgres://…` or `postgresql://…`',
    isSecret: true,
    check: checkDatabaseUrl,
  }),
  databasePoolSize: integer('SVC_DATABASE_POOL_SIZE', {
    description: 'Maximum number of connections of one instance to PostgreSQL.',
    default: 10,
    min: 1,
    max: 500,
  }),
  databaseWaitMs: integer('SVC_DATABASE_WAIT_MS', {
    description:
      'How long a request waits for its turn, and after that for the database, before it gets 503, in milliseconds.',
    default: 1_800,
    min: 200,
    max: 30_000,
  }),
  dataDirectory: textWithDefault('SVC_DATA_DIR', {
    description:
      'Folder of the embedded database. It contains the socket of the commands, so its absolute path may have at ' +
      'most 87 bytes.',
    default: './data',
  }),
  encryptionKeys: list('SVC_ENCRYPTION_KEY', {
    description:
      'Keys that seal secrets at rest: the first seals, all unseal. Required with PostgreSQL; with the embedded ' +
      'database generated once in the data folder.',
    range: 'comma-separated, each 32 bytes in base64',
    isSecret: true,
    member: parseEncryptionKey,
  }),

  ...AUDIT_VARIABLES,

  logLevel: choice('SVC_LOG_LEVEL', {
    description: 'The lowest level of log lines that are written.',
    default: 'info',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
} as const;

/** The same table as a list, in order, for documentation and checks. */
export const ENVIRONMENT_VARIABLES: readonly EnvironmentVariable[] = Object.values(VARIABLES);
