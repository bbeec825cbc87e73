// All environment variables of the service, from which docs/reference/settings.md is generated. A variable
// for a setting of the package refers to that setting.
import { z } from 'zod';
import { DPOP_NONCE, SECTIONS } from '../token-exchange/instance.js';
import { flag, oneOf, wholeNumber } from '../platform/input/schemas.js';
import { MOST_ORIGINS_CHARACTERS } from '../platform/text/origin.js';
import type { EnvironmentVariable } from './variable.js';
import { line, lines, variable } from './variable.js';
import {
  transmitters,
  cidrRanges,
  databaseUrl,
  encryptionKeys,
  origin,
  origins,
  syslogUrl,
  webhookHeaders,
  webhookSecrets,
  webhookUrl,
} from './variable-formats.js';

/** A hundred years. */
const LONGEST_RETENTION_DAYS = 36_500;

export const AUDIT_VARIABLES = {
  auditRetentionDays: variable(
    'SVC_AUDIT_RETENTION_DAYS',
    wholeNumber(0, LONGEST_RETENTION_DAYS)
      .default(0)
      .describe('How long audit events are kept; 0: for ever.'),
  ),
  auditMaxDays: variable(
    'SVC_AUDIT_MAX_DAYS',
    wholeNumber(0, LONGEST_RETENTION_DAYS)
      .default(0)
      .describe(
        'When an event is deleted even if a sink has not received it; 0: never. At least `SVC_AUDIT_RETENTION_DAYS`, which it needs.',
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
    webhookSecrets().describe('Secrets, each of which signs every post.'),
    { range: 'comma-separated, each of 32 characters or more', isSecret: true },
  ),
  auditWebhookHeaders: variable(
    'SVC_AUDIT_WEBHOOK_HEADERS',
    webhookHeaders().describe('Headers of each post, such as credentials.'),
    { range: '`Name: value` in each line', isSecret: true },
  ),
  auditWebhookAllowHttp: variable(
    'SVC_AUDIT_WEBHOOK_ALLOW_HTTP',
    flag().default(false).describe('Allows an `http:` or loopback webhook. For tests only.'),
  ),
  auditWebhookAllowPrivate: variable(
    'SVC_AUDIT_WEBHOOK_ALLOW_PRIVATE',
    cidrRanges().describe('Non-public networks in which the webhook may be.'),
    { range: 'comma-separated CIDR ranges' },
  ),
  auditSyslogUrl: variable(
    'SVC_AUDIT_SYSLOG_URL',
    syslogUrl().describe('Syslog server for audit events, over TLS or plain TCP.'),
    { range: '`tls://host:port` or `tcp://host:port`' },
  ),
  auditSyslogCa: variable(
    'SVC_AUDIT_SYSLOG_CA',
    lines().describe("Certificates for the syslog server instead of Node.js's, PEM."),
  ),
  auditStandardOutput: variable(
    'SVC_AUDIT_STDOUT',
    flag().default(false).describe('Writes audit events to standard output as JSON lines.'),
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
      .describe('Turns on the whole feature (preview).'),
    { range: 'exactly `true` turns it on', remark: flagRemark },
  ),
  license: variable('SVC_LICENSE', lines().describe('Licence of `svc-admin license issue`.'), {
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
      '[Trusted key entries](trusted-key-entries.md), a JSON array. Required if the feature is on.',
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
    wholeNumber(1, 1_000_000)
      .default(600)
      .describe('Calls of `/api/v1` per user, or pair of actor and subject.'),
  ),
  throttleStore: variable(
    'SVC_THROTTLE_STORE',
    oneOf(['memory', 'database'])
      .default('memory')
      .describe('Whether each instance counts requests, or the database.'),
  ),
  strict: variable(
    'SVC_TOKEN_EXCHANGE_STRICT',
    flag()
      .default(false)
      .describe('Refuses what a trusted key entry does not allow, and logins by GET. Recommended.'),
  ),

  dpopNonce: variable('SVC_DPOP_NONCE', DPOP_NONCE),

  // Limits (docs/reference/limits.md has all of them)
  keepAliveSeconds: variable(
    'SVC_KEEP_ALIVE_SECONDS',
    wholeNumber(1, 3600)
      .default(72)
      .describe('How long an idle connection stays open; set it longer than in the reverse proxy.'),
  ),
  maxSessionsPerUser: variable('SVC_EMBED_MAX_SESSIONS_PER_USER', SECTIONS.sessions.maxPerUser),

  // Sessions
  sessionLifetimeSeconds: variable('SVC_EMBED_SESSION_TTL_SECONDS', SECTIONS.sessions.lifetimeSeconds),
  partitionedCookie: variable('SVC_EMBED_COOKIE_PARTITIONED', SECTIONS.sessions.partitioned),
  frameAncestors: variable(
    'SVC_EMBED_FRAME_ANCESTORS',
    origins().describe(
      'Origins that may frame the instance, besides the `origins` of entries. Without either, embedded login leaves framing to the reverse proxy; otherwise it is forbidden.',
    ),
    {
      range: `comma-separated \`https://host[:port]\`, or of an app \`scheme://host\`; at most ${MOST_ORIGINS_CHARACTERS.setting} characters`,
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
    origin().describe('Public address. If unset, `http://localhost:PORT`, with a certificate `https:`.'),
    { range: '`http(s)://host[:port]`' },
  ),
  host: variable('SVC_HOST', line().default('127.0.0.1').describe('Address to listen on.')),
  port: variable(
    'SVC_PORT',
    wholeNumber(0, 65_535)
      .default(5678)
      .describe('TCP port to listen on; 0 picks a free one. `PORT` works too.'),
    { alias: 'PORT' },
  ),
  metricsHost: variable(
    'SVC_METRICS_HOST',
    line().default('127.0.0.1').describe('Address to listen on for metrics.'),
  ),
  metricsPort: variable(
    'SVC_METRICS_PORT',
    wholeNumber(0, 65_535).default(9464).describe('TCP port of `/metrics`, without HTTPS; 0 disables it.'),
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
        'Number of trusted reverse proxies (`X-Forwarded-*`). The first one must overwrite `X-Request-Id`.',
      ),
  ),

  // Stop
  shutdownDelaySeconds: variable(
    'SVC_SHUTDOWN_DELAY_SECONDS',
    wholeNumber(0, 300)
      .default(0)
      .describe('How long the service answers after SIGTERM while it is not ready.'),
  ),

  // Storage
  databaseUrl: variable(
    'SVC_DATABASE_URL',
    databaseUrl().describe('PostgreSQL URL; without one the embedded database is used.'),
    { range: '`postgres://…` or `postgresql://…`', isSecret: true },
  ),
  databasePoolSize: variable(
    'SVC_DATABASE_POOL_SIZE',
    wholeNumber(1, 500).default(10).describe('Connections of one instance to PostgreSQL.'),
  ),
  databaseWaitMs: variable(
    'SVC_DATABASE_WAIT_MS',
    wholeNumber(200, 30_000)
      .default(1_800)
      .describe('How long a request waits for its turn, then for the database, before a 503.'),
  ),
  dataDirectory: variable(
    'SVC_DATA_DIR',
    line()
      .default('./data')
      .describe(
        "Folder of the embedded database and the commands' socket; absolute path of at most 87 bytes.",
      ),
  ),
  encryptionKeys: variable(
    'SVC_ENCRYPTION_KEY',
    encryptionKeys().describe(
      'Keys that seal secrets at rest: the first seals, all unseal. Required with PostgreSQL, otherwise generated in the data folder.',
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
