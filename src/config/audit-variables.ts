// The environment variables of the audit trail and its sinks.
import { flag, wholeNumber } from '../platform/input/schemas.js';
import { lines, variable } from './variable.js';
import { cidrRanges, syslogUrl, webhookHeaders, webhookSecrets, webhookUrl } from './variable-formats.js';

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
