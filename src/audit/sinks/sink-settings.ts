// The configured sinks of the audit trail, and how long events are kept.
import { X509Certificate } from 'node:crypto';
import { VARIABLES } from '../../config/environment.js';
import type { Config, ConfigReading } from '../../config/load-config.js';
import { labelOf, pathHint } from '../../config/load-config.js';
import type { Header } from '../../config/variable-formats.js';

export interface WebhookSettings {
  readonly url: string;
  /** Secret; each adds a signature. */
  readonly secrets: readonly string[];
  /** Secret; sent with each request. */
  readonly headers: readonly Header[];
  /** Allows `http:` and loopback addresses. */
  readonly allowHttp: boolean;
  /** CIDR ranges that are allowed although they are not public. */
  readonly allowPrivate: readonly string[];
}

export interface SyslogSettings {
  readonly host: string;
  readonly port: number;
  readonly useTls: boolean;
  /** The trusted certificates in PEM. Default: Node.js's own. */
  readonly ca?: string;
}

export interface SinkSettings {
  readonly webhook?: WebhookSettings;
  readonly syslog?: SyslogSettings;
  readonly standardOutput: boolean;
}

/** The trail's settings. */
type AuditConfig = Pick<Config, Extract<keyof Config, `audit${string}`>>;

export function sinkSettings(config: AuditConfig): SinkSettings {
  return {
    ...webhookSettings(config),
    ...syslogSettings(config),
    standardOutput: config.auditStandardOutput,
  };
}

type Given = ConfigReading['given'];

/**
 * Returns the problems of contradictory settings. With any problem, the process must not start. The messages contain no values.
 * @param given the variables that are set; a set variable is not missing, even if its value is invalid
 */
export function auditProblems(config: AuditConfig, given: Given): string[] {
  return [...webhookProblems(config, given), ...syslogProblems(config, given), ...ageProblems(config)];
}

function webhookSettings(config: AuditConfig): Pick<SinkSettings, 'webhook'> {
  const { auditWebhookUrl: url, auditWebhookSecrets: secrets, auditWebhookHeaders: headers } = config;
  if (url === undefined) return {};
  const { auditWebhookAllowHttp: allowHttp, auditWebhookAllowPrivate: allowPrivate } = config;
  return { webhook: { url, secrets, headers, allowHttp, allowPrivate } };
}

function syslogSettings(config: AuditConfig): Pick<SinkSettings, 'syslog'> {
  const { auditSyslogUrl: address, auditSyslogCa: ca } = config;
  if (address === undefined) return {};
  const { protocol, hostname, port } = new URL(address);
  return {
    syslog: {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port),
      useTls: protocol === 'tls:',
      ...(ca !== undefined && { ca }),
    },
  };
}

function* webhookProblems(config: AuditConfig, given: Given) {
  const { auditWebhookUrl: url, auditWebhookAllowHttp: allowHttp } = config;
  const has = { url: given.has('SVC_AUDIT_WEBHOOK_URL'), secret: given.has('SVC_AUDIT_WEBHOOK_SECRET') };
  for (const other of ['SVC_AUDIT_WEBHOOK_SECRET', 'SVC_AUDIT_WEBHOOK_HEADERS'])
    if (given.has(other) && !has.url) yield `SVC_AUDIT_WEBHOOK_URL: is required with ${other}`;
  if (has.url && !has.secret) yield 'SVC_AUDIT_WEBHOOK_SECRET: is required with SVC_AUDIT_WEBHOOK_URL';
  if (url !== undefined && !allowHttp && new URL(url).protocol === 'http:')
    yield `${labelOf(VARIABLES.auditWebhookUrl, given)}: must be an https:// URL, unless SVC_AUDIT_WEBHOOK_ALLOW_HTTP is true`;
}

function* syslogProblems({ auditSyslogUrl: address, auditSyslogCa: ca }: AuditConfig, given: Given) {
  if (ca === undefined) return;
  const label = labelOf(VARIABLES.auditSyslogCa, given);
  const isPlain = address !== undefined && new URL(address).protocol !== 'tls:';
  if (isPlain || !given.has('SVC_AUDIT_SYSLOG_URL'))
    yield `${label}: needs a tls:// address in SVC_AUDIT_SYSLOG_URL`;
  if (!isCertificate(ca)) yield `${label}: must be PEM certificates${pathHint(VARIABLES.auditSyslogCa, ca)}`;
}

function* ageProblems({ auditRetentionDays: days, auditMaxDays: maxDays }: AuditConfig) {
  if (maxDays === 0) return;
  if (days > 0 && maxDays < days) yield 'SVC_AUDIT_MAX_DAYS: must be no less than SVC_AUDIT_RETENTION_DAYS';
  if (days === 0) yield 'SVC_AUDIT_RETENTION_DAYS: is required with SVC_AUDIT_MAX_DAYS';
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text) instanceof X509Certificate;
  } catch {
    return false;
  }
}
