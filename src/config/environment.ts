// All environment variables of the service, from which docs/reference/settings.md is generated. A variable
// for a setting of the package refers to that setting.
import { z } from 'zod';
import { flag, oneOf, wholeNumber } from '../platform/input/schemas.js';
import { MAX_ORIGINS_CHARACTERS } from '../platform/text/origin.js';
import { DPOP_NONCE, SECTIONS } from '../token-exchange/instance.js';
import type { EnvironmentVariable } from './variable.js';
import { line, lines, variable } from './variable.js';
import {
  cidrRanges,
  databaseUrl,
  encryptionKeys,
  origin,
  origins,
  syslogUrl,
  transmitters,
  webhookHeaders,
  webhookSecrets,
  webhookUrl,
} from './variable-formats.js';

/** A hundred years. */
const LONGEST_RETENTION_DAYS = 36_500;

export const AUDIT_VARIABLES = {
  auditRetentionDays: variable(
    'SVC_AUDIT_RETENTION_DAYS',
    wholeNumber(0, LONGEST_RETENTION_DAYS).default(0).describe('How long audit events are kept; 0: forever.'),
  ),
  auditMaxDays: variable(
    'SVC_AUDIT_MAX_DAYS',
    wholeNumber(0, LONGEST_RETENTION_DAYS)
      .default(0)
      .describe(
        'When events are deleted even if a sink lacks them; 0: never. Needs a shorter or equal `SVC_AUDIT_RETENTION_DAYS`.',
      ),
  ),
  auditWebhookUrl: variable(
    'SVC_AUDIT_WEBHOOK_URL',
    webhookUrl().describe('Where audit events are posted. Needs `SVC_AUDIT_WEBHOOK_SECRET`.'),
    // Many URLs contain a token in their path or query.
    { range: '`https://…`, without user name or password', isSecret: true },
  ),
  auditWebhookSecrets: variable(
    'SVC_AUDIT_WEBHOOK_SECRET',
    webhookSecrets().describe('Secrets that sign each post.'),
    { range: 'comma-separated, 32 characters or more each', isSecret: true },
  ),
  auditWebhookHeaders: variable(
    'SVC_AUDIT_WEBHOOK_HEADERS',
    webhookHeaders().describe('Headers of each post, such as credentials.'),
    { range: '`Name: value` in each line', isSecret: true },
  ),
  auditWebhookAllowHttp: variable(
    'SVC_AUDIT_WEBHOOK_ALLOW_HTTP',
    flag().default(false).describe('Allows an `http:` or loopback webhook, for tests.'),
  ),
  auditWebhookAllowPrivate: variable(
    'SVC_AUDIT_WEBHOOK_ALLOW_PRIVATE',
    cidrRanges().describe('Non-public networks allowed for the webhook.'),
    { range: 'comma-separated CIDR ranges' },
  ),
  auditSyslogUrl: variable('SVC_AUDIT_SYSLOG_URL', syslogUrl().describe('Syslog server for audit events.'), {
    range: '`tls://host:port` or `tcp://host:port`',
  }),
  auditSyslogCa: variable(
    'SVC_AUDIT_SYSLOG_CA',
    lines().describe("CA certificates of the syslog server, PEM; unset: Node.js's."),
  ),
  auditStandardOutput: variable(
    'SVC_AUDIT_STDOUT',
    flag().default(false).describe('Writes audit events to standard output.'),
  ),
} as const;

/** The remark for a string that only resembles `true`: the flag stays off. */
function flagRemark(text: string): string | undefined {
  return text === 'true' || text === 'false'
    ? undefined
    : 'is set, but turns the feature on only as exactly true: in small letters, without quotes or blanks';
}

/**
 * The variables by their names in the code. Each may also be given as `NAME_FILE`, the path of a file that
 * contains the value. All defaults are here, even if the rule that needs one is tagged elsewhere in the code
 * (8.3 to 8.6). See `defaultBaseUrl` in load-config.ts for the base URL.
 * @rule 5.1.1 The feature flag must be exactly `true`. See instance/token-exchange.modules.ts for its effect.
 */
export const VARIABLES = {
  // Availability
  featureFlag: variable(
    'SVC_ENV_FEAT_TOKEN_EXCHANGE',
    z
      .string()
      .transform((text) => text === 'true')
      .default(false)
      .describe('Turns token exchange on (preview).'),
    { range: 'exactly `true`', remark: flagRemark },
  ),
  license: variable('SVC_LICENSE', lines().describe('Licence (`svc-admin license issue`).'), {
    isSecret: true,
  }),
  licensePublicKey: variable(
    'SVC_LICENSE_PUBLIC_KEY',
    lines().describe("The vendor's public key, PEM (Ed25519)."),
  ),

  // The flows
  embedLoginEnabled: variable(
    'SVC_EMBED_LOGIN_ENABLED',
    flag().default(false).describe('Turns on embedded login (`/rest/auth/embed`).'),
  ),
  idAssertionEnabled: variable(
    'SVC_ID_ASSERTION_ENABLED',
    flag().default(false).describe('Turns on [identity assertions](../partner/agents.md).'),
  ),
  exchangeEnabled: variable(
    'SVC_TOKEN_EXCHANGE_ENABLED',
    flag().default(false).describe('Turns on token exchange (`/rest/auth/oauth/token`).'),
  ),
  trustedKeys: variable(
    'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS',
    lines().describe(
      '[Trusted key entries](trusted-key-entries.md), JSON. Required if token exchange is on.',
    ),
    { isSecret: true },
  ),
  maxTokenLifetimeSeconds: variable(
    'SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL',
    SECTIONS.exchange.maxTokenLifetimeSeconds,
  ),
  embedLoginsPerMinute: variable('SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE', SECTIONS.embedLogin.perMinute),
  exchangesPerMinute: variable('SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE', SECTIONS.exchange.perMinute),
  introspectionsPerMinute: variable(
    'SVC_TOKEN_EXCHANGE_INTROSPECTION_PER_MINUTE',
    SECTIONS.tokenIntrospection.perMinute,
  ),
  logoutsPerMinute: variable('SVC_TOKEN_EXCHANGE_LOGOUT_PER_MINUTE', SECTIONS.logout.perMinute),
  signalsPerMinute: variable('SVC_SIGNALS_PER_MINUTE', SECTIONS.signals.perMinute),
  transmitters: variable(
    'SVC_SIGNALS_TRANSMITTERS',
    transmitters().describe('[Transmitters of security events](../operator/signals.md).'),
    { range: 'a JSON array', isSecret: true },
  ),
  apiCallsPerMinute: variable(
    'SVC_API_CALLS_PER_MINUTE',
    wholeNumber(1, 1_000_000).default(600).describe('Calls of `/api/v1` per user, or per actor and subject.'),
  ),
  throttleStore: variable(
    'SVC_THROTTLE_STORE',
    oneOf(['memory', 'database']).default('memory').describe('Where requests are counted.'),
  ),
  strict: variable(
    'SVC_TOKEN_EXCHANGE_STRICT',
    flag()
      .default(false)
      .describe('[Strict policy](trusted-key-entries.md#policy), recommended; refuses logins by GET too.'),
  ),

  dpopNonce: variable('SVC_DPOP_NONCE', DPOP_NONCE),

  // Limits (docs/reference/limits.md has all of them)
  keepAliveSeconds: variable(
    'SVC_KEEP_ALIVE_SECONDS',
    wholeNumber(1, 3600)
      .default(72)
      .describe("Timeout of idle connections; must exceed the reverse proxy's."),
  ),
  maxSessionsPerUser: variable('SVC_EMBED_MAX_SESSIONS_PER_USER', SECTIONS.sessions.maxPerUser),

  // Sessions
  sessionLifetimeSeconds: variable('SVC_EMBED_SESSION_TTL_SECONDS', SECTIONS.sessions.lifetimeSeconds),
  partitionedCookie: variable('SVC_EMBED_COOKIE_PARTITIONED', SECTIONS.sessions.partitioned),
  frameAncestors: variable(
    'SVC_EMBED_FRAME_ANCESTORS',
    origins().describe(
      'Origins that may frame the instance, besides `origins` of entries. Without either, embedded login does not restrict framing.',
    ),
    {
      range: `comma-separated \`https://host[:port]\`, or an app's \`scheme://host\`; at most ${MAX_ORIGINS_CHARACTERS.setting} characters`,
    },
  ),

  // The operator's page
  adminEnabled: variable(
    'SVC_ADMIN_ENABLED',
    flag().default(false).describe("Turns on the operator's page (`/admin`, `/rest/admin`)."),
  ),

  // Keys fetched from partners
  keyRefreshIntervalSeconds: variable(
    'SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS',
    SECTIONS.jwks.refreshIntervalSeconds,
  ),
  jwksAllowHttp: variable('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP', SECTIONS.jwks.allowHttp),
  jwksAllowPrivate: variable(
    'SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE',
    cidrRanges().describe(SECTIONS.jwks.allowPrivate.description ?? ''),
    {
      range: 'comma-separated CIDR ranges',
    },
  ),

  // Replay records
  jtiCleanupIntervalSeconds: variable(
    'SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS',
    SECTIONS.replayPurge.intervalSeconds,
  ),
  jtiCleanupBatchSize: variable('SVC_TOKEN_EXCHANGE_JTI_CLEANUP_BATCH_SIZE', SECTIONS.replayPurge.batchSize),

  // Addresses
  baseUrl: variable(
    'SVC_BASE_URL',
    origin().describe('Public address; by default `localhost` with the port.'),
    { range: '`http(s)://host[:port]`' },
  ),
  host: variable('SVC_HOST', line().default('127.0.0.1').describe('Address to listen on.')),
  port: variable(
    'SVC_PORT',
    wholeNumber(0, 65_535).default(5678).describe('TCP port, also as `PORT`; 0 picks a free one.'),
    { alias: 'PORT' },
  ),
  metricsHost: variable(
    'SVC_METRICS_HOST',
    line().default('127.0.0.1').describe('Address of the metrics listener.'),
  ),
  metricsPort: variable(
    'SVC_METRICS_PORT',
    wholeNumber(0, 65_535).default(9464).describe('TCP port of `/metrics` (plain HTTP); 0 disables it.'),
  ),
  tlsCertificate: variable(
    'SVC_SSL_CERT',
    lines().describe('Certificate and chain for HTTPS, PEM. Needs `SVC_SSL_KEY`.'),
  ),
  tlsKey: variable('SVC_SSL_KEY', lines().describe('Private key of `SVC_SSL_CERT`, PEM.'), {
    isSecret: true,
  }),
  proxyHops: variable(
    'SVC_PROXY_HOPS',
    wholeNumber(0, 10)
      .default(0)
      .describe(
        'Number of trusted reverse proxies (`X-Forwarded-*`); the first must overwrite `X-Request-Id`.',
      ),
  ),

  // Stop
  shutdownDelaySeconds: variable(
    'SVC_SHUTDOWN_DELAY_SECONDS',
    wholeNumber(0, 300).default(0).describe('How long requests are answered after SIGTERM.'),
  ),

  // Storage
  databaseUrl: variable(
    'SVC_DATABASE_URL',
    databaseUrl().describe('PostgreSQL URL; unset: the embedded database.'),
    { range: '`postgres://…` or `postgresql://…`', isSecret: true },
  ),
  databasePoolSize: variable(
    'SVC_DATABASE_POOL_SIZE',
    wholeNumber(1, 500).default(10).describe('PostgreSQL connections of an instance.'),
  ),
  databaseWaitMs: variable(
    'SVC_DATABASE_WAIT_MS',
    wholeNumber(200, 30_000)
      .default(1_800)
      .describe('Longest wait for a turn, then for the database, before a 503.'),
  ),
  dataDirectory: variable(
    'SVC_DATA_DIR',
    line()
      .default('./data')
      .describe('Folder of the embedded database and command socket; absolute path of at most 87 bytes.'),
  ),
  encryptionKeys: variable(
    'SVC_ENCRYPTION_KEY',
    encryptionKeys().describe(
      'Keys that seal secrets at rest: the first seals, all unseal. Required with PostgreSQL.',
    ),
    { range: 'comma-separated, each 32 bytes in base64', isSecret: true },
  ),

  ...AUDIT_VARIABLES,

  logLevel: variable(
    'SVC_LOG_LEVEL',
    oneOf(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('Lowest level of log lines.'),
  ),
} as const;

/** The same table as a list, in order, for documentation and checks. */
export const ENVIRONMENT_VARIABLES: readonly EnvironmentVariable[] = Object.values(VARIABLES);
