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
      .describe('How long the service keeps audit events, in days; 0 keeps them for ever.'),
  ),
  auditMaxDays: variable(
    'SVC_AUDIT_MAX_DAYS',
    wholeNumber(0, LONGEST_RETENTION_DAYS)
      .default(0)
      .describe(
        'After how many days the service deletes an event even if a sink has not received it; 0 never. Needs `SVC_AUDIT_RETENTION_DAYS`, and must not be smaller.',
      ),
  ),
  auditWebhookUrl: variable(
    'SVC_AUDIT_WEBHOOK_URL',
    webhookUrl().describe(
      'Address to which the service posts audit events. Needs `SVC_AUDIT_WEBHOOK_SECRET`.',
    ),
    // Many URLs contain a token in their path or query.
    { range: '`https://…`, without user name or password', isSecret: true },
  ),
  auditWebhookSecrets: variable(
    'SVC_AUDIT_WEBHOOK_SECRET',
    webhookSecrets().describe('Secrets that sign posts, each with its own signature.'),
    { range: 'comma-separated, each of 32 characters or more', isSecret: true },
  ),
  auditWebhookHeaders: variable(
    'SVC_AUDIT_WEBHOOK_HEADERS',
    webhookHeaders().describe('Headers of each post, such as the credentials that the receiver asks for.'),
    { range: '`Name: value`, one in each line', isSecret: true },
  ),
  auditWebhookAllowHttp: variable(
    'SVC_AUDIT_WEBHOOK_ALLOW_HTTP',
    flag()
      .default(false)
      .describe('Allows an `http:` or loopback address of the webhook. For tests and demonstrations only.'),
  ),
  auditWebhookAllowPrivate: variable(
    'SVC_AUDIT_WEBHOOK_ALLOW_PRIVATE',
    cidrRanges().describe('Non-public networks that the address of the webhook may lie in.'),
    { range: 'comma-separated CIDR ranges' },
  ),
  auditSyslogUrl: variable(
    'SVC_AUDIT_SYSLOG_URL',
    syslogUrl().describe('Syslog server to which the service sends audit events, over TLS or plain TCP.'),
    { range: '`tls://host:port` or `tcp://host:port`' },
  ),
  auditSyslogCa: variable(
    'SVC_AUDIT_SYSLOG_CA',
    lines().describe('Certificates that verify the syslog server, in place of those of Node.js, as PEM.'),
  ),
  auditStandardOutput: variable(
    'SVC_AUDIT_STDOUT',
    flag().default(false).describe("Writes audit events to standard output, as JSON lines beside the log's."),
  ),
} as const;
