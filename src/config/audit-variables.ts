// The environment variables of the audit trail and its sinks.
import {
  checkSyslogUrl,
  checkWebhookHeaders,
  checkWebhookUrl,
  parseCidr,
  parseWebhookHeader,
  parseWebhookSecret,
} from './variable-formats.js';
import { boolean, choice, integer, lines, list, text, textDocument } from './variable.js';

/** A hundred years. */
const LONGEST_RETENTION_DAYS = 36_500;

export const AUDIT_VARIABLES = {
  auditRetentionDays: integer('SVC_AUDIT_RETENTION_DAYS', {
    description: 'How long the service keeps events of the audit trail, in days; 0 keeps them for ever.',
    default: 0,
    min: 0,
    max: LONGEST_RETENTION_DAYS,
  }),
  auditMaxDays: integer('SVC_AUDIT_MAX_DAYS', {
    description:
      'After how many days the service deletes an event that a sink has not received yet; 0 keeps it until then. Needs ' +
      '`SVC_AUDIT_RETENTION_DAYS`, and must not be smaller.',
    default: 0,
    min: 0,
    max: LONGEST_RETENTION_DAYS,
  }),
  auditSinksStart: choice('SVC_AUDIT_SINKS_START', {
    description: 'Where a new sink begins: with new events, or with the oldest one.',
    default: 'now',
    values: ['now', 'beginning'],
  }),
  auditWebhookUrl: text('SVC_AUDIT_WEBHOOK_URL', {
    description: 'Address to which the service posts audit events. Needs `SVC_AUDIT_WEBHOOK_SECRET`.',
    range: '`https://…`, without user name or password',
    // Many have a token in their path or query.
    isSecret: true,
    check: checkWebhookUrl,
  }),
  auditWebhookSecrets: list('SVC_AUDIT_WEBHOOK_SECRET', {
    description:
      'Secrets that sign posts: each adds a signature of its own, so that a new secret can replace an old one.',
    range: 'comma-separated, each of 32 characters or more',
    isSecret: true,
    member: parseWebhookSecret,
  }),
  auditWebhookHeaders: lines('SVC_AUDIT_WEBHOOK_HEADERS', {
    description: 'Headers of each post, such as the credentials that the receiver asks for.',
    range: '`Name: value`, one in each line',
    isSecret: true,
    line: parseWebhookHeader,
    check: checkWebhookHeaders,
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
    description: 'Syslog server to which the service sends audit events, over TLS or plain TCP.',
    range: '`tls://host:port` or `tcp://host:port`',
    check: checkSyslogUrl,
  }),
  auditSyslogCa: textDocument('SVC_AUDIT_SYSLOG_CA', {
    description: 'Certificates that verify the syslog server, in place of those of Node.js, as PEM.',
  }),
  auditSyslogResendSeconds: integer('SVC_AUDIT_SYSLOG_RESEND_SECONDS', {
    description:
      'After a broken connection to the syslog server, the service sends the events of this many seconds before it again.',
    default: 60,
    min: 1,
    max: 3600,
  }),
  auditStandardOutput: boolean('SVC_AUDIT_STDOUT', {
    description:
      'Writes audit events to standard output, as JSON lines of their own beside those of the log.',
    default: false,
  }),
} as const;
