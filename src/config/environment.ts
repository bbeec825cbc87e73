// Every environment variable of the service, in one table: the documentation and its test read it too.
import { availableParallelism } from 'node:os';
import ipaddr from 'ipaddr.js';
import { originOfText } from '../platform/text/origin.js';
import type { EnvironmentVariable, Parsed } from './variable.js';
import {
  boolean,
  choice,
  exactFlag,
  integer,
  integerOrWord,
  list,
  optionalInteger,
  text,
  textWithDefault,
} from './variable.js';

/** AES-256. */
export const ENCRYPTION_KEY_BYTES = 32;
/** The command that makes a key. */
export const NEW_ENCRYPTION_KEY = `openssl rand -base64 ${ENCRYPTION_KEY_BYTES}`;
const DAY_SECONDS = 86_400;
/** A hundred years. */
const LONGEST_RETENTION_DAYS = 36_500;
/** Of three rows. */
const SINK_NAMES = 'Small letters, digits, `-` and `_`, 63 at most; a new name begins anew.';
const SHORTEST_WEBHOOK_SECRET = 32;

/**
 * The variables by the name that code uses. Each may also be given as `NAME_FILE`, the path of a file that holds
 * the value. Every default stands here, also where the rule that needs it is tagged at the code that obeys it (8.3 to 8.6).
 * @rule 5.1.1 The feature flag must be exactly `true`. See app.module.ts for what it turns on.
 * @rule D43 Addresses and ports. See `defaultBaseUrl` in load-config.ts for the base address.
 * @rule D44 Ranges of the numeric settings.
 */
export const VARIABLES = {
  // Availability
  featureFlag: exactFlag('SVC_ENV_FEAT_TOKEN_EXCHANGE', {
    description: 'Preview flag of the whole feature.',
  }),
  license: text('SVC_LICENSE', {
    description: 'Licence: a compact JWS made by `svc-admin license issue`.',
    isSecret: true,
  }),
  licensePublicKey: text('SVC_LICENSE_PUBLIC_KEY', {
    description: 'Public key of the licence vendor, PEM (Ed25519).',
  }),

  // The two flows
  embedLoginEnabled: boolean('SVC_EMBED_LOGIN_ENABLED', {
    description: 'Turns embedded login (`/rest/auth/embed`) on.',
    default: false,
  }),
  idAssertionEnabled: boolean('SVC_ID_ASSERTION_ENABLED', {
    description:
      'Lets the token endpoint take identity assertions (ID-JAG) of the companies whose trusted key entries say so, whatever the other two switches say. See [id-jag.md](id-jag.md).',
    default: false,
  }),
  exchangeEnabled: boolean('SVC_TOKEN_EXCHANGE_ENABLED', {
    description: 'Turns token exchange (`/rest/auth/oauth/token`) on.',
    default: false,
  }),
  trustedKeys: text('SVC_TOKEN_EXCHANGE_TRUSTED_KEYS', {
    description: 'Trusted key entries, a JSON array; required when the feature is on.',
  }),
  /** @rule 8.1 At most 900 seconds unless configured. See issuance.planner.ts, which applies it (4.2.5). */
  maxTokenLifetimeSeconds: integer('SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL', {
    description: 'Longest life of an issued access token, in seconds.',
    default: 900,
    min: 5,
    max: DAY_SECONDS,
  }),
  idAssertionMaxLifetimeSeconds: integer('SVC_ID_ASSERTION_MAX_LIFETIME_SECONDS', {
    description: 'Longest life of an identity assertion from `iat` to `exp`, in seconds.',
    default: 300,
    min: 1,
    max: 3600,
  }),
  clockToleranceSeconds: integer('SVC_TOKEN_EXCHANGE_CLOCK_TOLERANCE_SECONDS', {
    description: 'Tolerance for `nbf` and a future `iat`, in seconds; `exp` has none.',
    default: 5,
    min: 0,
    max: 60,
  }),
  embedLoginsPerMinute: integer('SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE', {
    description: 'Requests per client address and minute at `/rest/auth/embed`.',
    default: 20,
    min: 1,
    max: 1_000_000,
  }),
  exchangesPerMinute: integer('SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE', {
    description: 'Requests per client address and minute at `/rest/auth/oauth/token`.',
    default: 20,
    min: 1,
    max: 1_000_000,
  }),
  tokenRevocationsPerMinute: integer('SVC_TOKEN_EXCHANGE_REVOCATION_PER_MINUTE', {
    description: 'Requests per client address and minute at `/rest/auth/oauth/revoke`.',
    default: 60,
    min: 1,
    max: 1_000_000,
  }),
  logoutsPerMinute: integer('SVC_TOKEN_EXCHANGE_LOGOUT_PER_MINUTE', {
    description:
      'Requests per client address and minute at `/rest/auth/backchannel-logout`, and logouts per issuer and minute.',
    default: 600,
    min: 1,
    max: 1_000_000,
  }),
  apiCallsPerMinute: integer('SVC_API_CALLS_PER_MINUTE', {
    description: 'Calls per minute at `/api/v1`: per user, with an actor per pair of actor and subject.',
    default: 600,
    min: 1,
    max: 1_000_000,
  }),
  throttleStore: choice('SVC_THROTTLE_STORE', {
    description:
      'Where requests are counted: by each instance for itself, or in the database for all of them together.',
    default: 'memory',
    values: ['memory', 'database'],
  }),
  strict: boolean('SVC_TOKEN_EXCHANGE_STRICT', {
    description:
      'What a trusted key entry does not allow is refused, and logins by GET answer 405. Recommended for every new instance.',
    default: false,
  }),

  // Limits (docs/limits.md has all of them)
  maxConnections: integer('SVC_MAX_CONNECTIONS', {
    description: 'Most connections of clients at one time, of an instance; one more is closed unanswered.',
    default: 10_000,
    min: 1,
    max: 1_000_000,
  }),
  headersTimeoutSeconds: integer('SVC_HEADERS_TIMEOUT_SECONDS', {
    description:
      'How long the headers of a request may take to arrive, in seconds; never longer than the whole request.',
    default: 15,
    min: 1,
    max: 300,
  }),
  requestTimeoutSeconds: integer('SVC_REQUEST_TIMEOUT_SECONDS', {
    description: 'How long a whole request may take to arrive, in seconds.',
    default: 30,
    min: 1,
    max: 300,
  }),
  keepAliveSeconds: integer('SVC_KEEP_ALIVE_SECONDS', {
    description:
      'How long a connection stays open without a request, in seconds; longer than that of a reverse proxy in front.',
    default: 72,
    min: 1,
    max: 3600,
  }),
  answerTimeoutSeconds: integer('SVC_ANSWER_TIMEOUT_SECONDS', {
    description:
      'How long an answer may lie without a byte of it being taken, in seconds; never shorter than a whole request may take.',
    default: 60,
    min: 10,
    max: 3600,
  }),
  maxRequestsInProgress: integer('SVC_MAX_REQUESTS_IN_PROGRESS', {
    description: 'Most requests in progress at one time, of a process; one more is answered 503 at once.',
    default: 4_000,
    min: 1,
    max: 100_000,
  }),
  maxWorkflowsPerProject: integer('SVC_MAX_WORKFLOWS_PER_PROJECT', {
    description: 'Most workflows of a project.',
    default: 100_000,
    min: 1,
    max: 1_000_000,
  }),
  maxCredentialsPerProject: integer('SVC_MAX_CREDENTIALS_PER_PROJECT', {
    description: 'Most credentials of a project.',
    default: 1000,
    min: 1,
    max: 1_000_000,
  }),
  maxMembersPerProject: integer('SVC_MAX_MEMBERS_PER_PROJECT', {
    description: 'Most members of a project.',
    default: 10_000,
    min: 1,
    max: 1_000_000,
  }),
  maxBytesPerProject: integer('SVC_MAX_BYTES_PER_PROJECT', {
    description:
      'Most bytes that the workflows and credentials of a project take in the database, as it stores them: large ones compressed.',
    default: 104_857_600,
    min: 1024,
    max: 1_000_000_000_000,
  }),
  maxProjectsPerUser: integer('SVC_MAX_PROJECTS_PER_USER', {
    description: 'Most projects of which one user is a member, the personal one included.',
    default: 10_000,
    min: 2,
    max: 1_000_000,
  }),
  maxSessionsPerUser: integer('SVC_EMBED_MAX_SESSIONS_PER_USER', {
    description: 'Most live sessions of a user; with one more the oldest ends.',
    default: 100,
    min: 1,
    max: 10_000,
  }),

  // Sessions
  sessionLifetimeSeconds: integer('SVC_EMBED_SESSION_TTL_SECONDS', {
    description: 'Life of an embedded session, in seconds, counted from its login.',
    default: 3600,
    min: 60,
    max: DAY_SECONDS,
  }),
  partitionedCookie: boolean('SVC_EMBED_COOKIE_PARTITIONED', {
    description:
      'Adds `Partitioned` to the session cookie, so that it works where third-party cookies are blocked.',
    default: true,
  }),
  frameAncestors: list('SVC_EMBED_FRAME_ANCESTORS', {
    description:
      'Origins that may frame the instance, beside the `origins` of trusted key entries. Without either the ' +
      'instance leaves this to a reverse proxy while embedded login is on, and forbids framing while it is off.',
    range: 'comma-separated origins: `https://host[:port]`',
    member: parseOrigin,
  }),

  // The operator's page
  adminEnabled: boolean('SVC_ADMIN_ENABLED', {
    description:
      'Turns the page for operators (`/admin`) and its API (`/rest/admin`) on; off, both answer 404. Owners and administrators ' +
      'sign in there with a password of their own.',
    default: false,
  }),

  // Keys fetched from partners
  /** @rule 8.2 Every 300 seconds where no cache life is given. See jwks-refresh.ts, which waits so long. */
  keyRefreshIntervalSeconds: integer('SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS', {
    description: 'Time between JWKS fetches, in seconds, where neither the answer nor the entry gives one.',
    default: 300,
    min: 1,
    max: DAY_SECONDS,
  }),
  jwksMaxStaleSeconds: integer('SVC_TOKEN_EXCHANGE_JWKS_MAX_STALE_SECONDS', {
    description: 'How long fetched keys serve past their time while the endpoint fails, in seconds.',
    default: DAY_SECONDS,
    min: 0,
    max: DAY_SECONDS,
  }),
  jwksAllowHttp: boolean('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP', {
    description: 'Allows `http:` and loopback JWKS addresses. For tests and demonstrations only.',
    default: false,
  }),
  jwksAllowPrivate: list('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE', {
    description: 'Non-public networks that JWKS addresses may lie in.',
    range: 'comma-separated CIDR ranges',
    member: parseCidr,
  }),

  // Replay records
  jtiCleanupIntervalSeconds: integer('SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS', {
    description: 'Time between purges of expired replay records, in seconds.',
    default: 60,
    min: 1,
    max: DAY_SECONDS,
  }),
  jtiCleanupBatchSize: integer('SVC_TOKEN_EXCHANGE_JTI_CLEANUP_BATCH_SIZE', {
    description: 'Most replay records that one purge statement deletes.',
    default: 1000,
    min: 1,
    max: 100_000,
  }),

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
    description: 'TCP port to listen on; 0 picks a free one. `PORT` is taken too.',
    default: 5678,
    min: 0,
    max: 65_535,
  }),
  metricsHost: text('SVC_METRICS_HOST', {
    description: 'Address to listen on for metrics; that of `SVC_HOST` if unset. Needs `SVC_METRICS_PORT`.',
  }),
  metricsPort: optionalInteger('SVC_METRICS_PORT', {
    description:
      'TCP port of a listener for `/metrics` alone, without HTTPS; 0 picks a free one. Unset, the port of the service answers ' +
      '`/metrics`.',
    min: 0,
    max: 65_535,
  }),
  tlsCertificate: text('SVC_SSL_CERT', {
    description: 'Certificate for serving HTTPS directly, PEM, with its chain. Needs `SVC_SSL_KEY`.',
  }),
  tlsKey: text('SVC_SSL_KEY', { description: 'Private key of `SVC_SSL_CERT`, PEM.', isSecret: true }),
  proxyHops: integer('SVC_PROXY_HOPS', {
    description:
      'Number of reverse proxies whose `X-Forwarded-*` headers are believed; above 0 `X-Request-Id` is, too, which the first of them must write anew.',
    default: 0,
    min: 0,
    max: 10,
  }),

  // Processes
  workers: integerOrWord('SVC_WORKERS', {
    description:
      'Processes that answer requests; `auto` is as many as there are cores. With more than one, PostgreSQL and ' +
      '`SVC_THROTTLE_STORE=database` are required, and one more process keeps them.',
    default: 1,
    min: 1,
    max: 64,
    word: 'auto',
    meaning: availableParallelism,
  }),

  // Stop
  shutdownDelaySeconds: integer('SVC_SHUTDOWN_DELAY_SECONDS', {
    description:
      'Time between SIGTERM and the end of listening, in seconds: so long load balancers have to hear that the instance is ' +
      'not ready any more.',
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
    description: 'Most connections to PostgreSQL of one instance.',
    default: 10,
    min: 1,
    max: 500,
  }),
  databaseWaitMs: integer('SVC_DATABASE_WAIT_MS', {
    description:
      'What a request waits for its turn, and then for the database in all, before it gets a 503, in milliseconds.',
    default: 1_800,
    min: 200,
    max: 30_000,
  }),
  dataDirectory: textWithDefault('SVC_DATA_DIR', {
    description:
      'Folder of the embedded database. Commands reach a running service by a socket in it, for which its absolute path may ' +
      'have 87 bytes.',
    default: './data',
  }),
  dataForcesWrites: boolean('SVC_DATA_FORCE_WRITES', {
    description:
      'Force what the embedded database commits to the disk, so that it outlives a loss of power. Without that it outlives the ' +
      'process only, and commits are faster.',
    default: true,
  }),
  encryptionKeys: list('SVC_ENCRYPTION_KEY', {
    description:
      'Keys that seal secrets at rest: the first seals, all unseal. Required with PostgreSQL; on the embedded ' +
      'database made once in the data folder.',
    range: 'comma-separated, each 32 bytes in base64',
    isSecret: true,
    member: parseEncryptionKey,
  }),

  // The audit trail
  auditRetentionDays: integer('SVC_AUDIT_RETENTION_DAYS', {
    description: 'How long events of the audit trail are kept, in days; 0 keeps them for ever.',
    default: 0,
    min: 0,
    max: LONGEST_RETENTION_DAYS,
  }),
  auditMaxDays: integer('SVC_AUDIT_MAX_DAYS', {
    description:
      'After how many days an event goes although a sink has not had it; 0 keeps it until the sink has. Needs ' +
      '`SVC_AUDIT_RETENTION_DAYS`, and is no less.',
    default: 0,
    min: 0,
    max: LONGEST_RETENTION_DAYS,
  }),
  auditSinksStart: choice('SVC_AUDIT_SINKS_START', {
    description:
      'Where a sink with a new name begins: with what happens from now on, or with the oldest event.',
    default: 'now',
    values: ['now', 'beginning'],
  }),
  auditWebhookUrl: text('SVC_AUDIT_WEBHOOK_URL', {
    description: 'Where audit events are posted to. Needs `SVC_AUDIT_WEBHOOK_SECRET`.',
    range: '`https://…`, without user name or password',
    // Many have a token in their path or query.
    isSecret: true,
    check: checkWebhookUrl,
  }),
  auditWebhookSecrets: list('SVC_AUDIT_WEBHOOK_SECRET', {
    description:
      'Secrets that sign what is posted: each makes a signature of its own, so that one can replace another.',
    range: 'comma-separated, each of 32 characters or more',
    isSecret: true,
    member: parseWebhookSecret,
  }),
  auditWebhookName: text('SVC_AUDIT_WEBHOOK_NAME', {
    description: `Name of that sink in the database, logs and metrics; \`webhook\` if unset. ${SINK_NAMES}`,
    check: checkSinkName,
  }),
  auditWebhookAllowHttp: boolean('SVC_AUDIT_WEBHOOK_ALLOW_HTTP', {
    description: 'Allows an `http:` or loopback address of the webhook. For tests and demonstrations only.',
    default: false,
  }),
  auditWebhookAllowPrivate: list('SVC_AUDIT_WEBHOOK_ALLOW_PRIVATE', {
    description: 'Non-public networks that the address of the webhook may lie in.',
    range: 'comma-separated CIDR ranges',
    member: parseCidr,
  }),
  auditSyslogUrl: text('SVC_AUDIT_SYSLOG_URL', {
    description: 'Syslog server that audit events are sent to, by TLS or by plain TCP.',
    range: '`tls://host:port` or `tcp://host:port`',
    check: checkSyslogUrl,
  }),
  auditSyslogCa: text('SVC_AUDIT_SYSLOG_CA', {
    description: 'Certificates that the syslog server is verified by instead of those of Node.js, PEM.',
  }),
  auditSyslogName: text('SVC_AUDIT_SYSLOG_NAME', {
    description: `Name of that sink in the database, logs and metrics; \`syslog\` if unset. ${SINK_NAMES}`,
    check: checkSinkName,
  }),
  auditSyslogResendSeconds: integer('SVC_AUDIT_SYSLOG_RESEND_SECONDS', {
    description:
      'What was sent so long before a connection to the syslog server broke is sent again, in seconds.',
    default: 60,
    min: 1,
    max: 3600,
  }),
  auditStandardOutput: boolean('SVC_AUDIT_STDOUT', {
    description:
      'Writes audit events to standard output, as JSON lines of their own beside those of the log.',
    default: false,
  }),
  auditStandardOutputName: text('SVC_AUDIT_STDOUT_NAME', {
    description: `Name of that sink in the database, logs and metrics; \`stdout\` if unset. ${SINK_NAMES}`,
    check: checkSinkName,
  }),

  logLevel: choice('SVC_LOG_LEVEL', {
    description: 'Least severe log lines that are written.',
    default: 'info',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
} as const;

/** The same table as a list, in order, for documentation and checks. */
export const ENVIRONMENT_VARIABLES: readonly EnvironmentVariable[] = Object.values(VARIABLES);

function parseCidr(value: string): Parsed<string> {
  return ipaddr.isValidCIDR(value) ? { value } : { problem: 'is not a CIDR range' };
}

function parseEncryptionKey(value: string): Parsed<Buffer> {
  const key = Buffer.from(value, 'base64');
  const canonical = key.toString('base64').replace(/=+$/, '') === value.replace(/=+$/, '');
  if (canonical && key.length === ENCRYPTION_KEY_BYTES) return { value: key };
  return {
    problem: `is not ${ENCRYPTION_KEY_BYTES} bytes in base64; ${NEW_ENCRYPTION_KEY} makes such a key`,
  };
}

function checkDatabaseUrl(value: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(value)) return 'must be a postgres:// URL';
  return URL.canParse(value)
    ? undefined
    : 'must be a postgres:// URL; its user name and password are percent-encoded';
}

/** Never told with the text: a path or a query may be what the receiver knows its sender by. */
function checkWebhookUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol)) return 'must be an https:// URL';
  if (url.username !== '' || url.password !== '') return 'must have no user name and no password';
  return undefined;
}

function parseWebhookSecret(value: string): Parsed<string> {
  if (value.length >= SHORTEST_WEBHOOK_SECRET) return { value };
  return { problem: `has fewer than ${SHORTEST_WEBHOOK_SECRET} characters` };
}

function checkSyslogUrl(value: string): string | undefined {
  const [, port] = /^(?:tls|tcp):\/\/(?:[\w.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(value) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535
    ? undefined
    : 'must be tls://host:port or tcp://host:port';
}

function checkSinkName(value: string): string | undefined {
  return /^[a-z0-9][a-z0-9_-]{0,62}$/.test(value)
    ? undefined
    : 'must have small letters, digits, - and _, 63 characters at most';
}

function checkOrigin(value: string): string | undefined {
  return originOfText(value) === undefined
    ? 'must be an origin such as https://instance.example, without a path'
    : undefined;
}

function parseOrigin(value: string): Parsed<string> {
  const origin = originOfText(value);
  return origin === undefined
    ? { problem: 'is not an origin such as https://product.example' }
    : { value: origin };
}
