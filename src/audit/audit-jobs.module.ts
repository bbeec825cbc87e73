// Streams the audit trail to its sinks, and deletes old events.
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { Database } from '../platform/database/database.js';
import { Leader } from '../platform/jobs/leader.js';
import { purging } from '../platform/jobs/purge.job.js';
import { LOGGER } from '../platform/log/log.js';
import type { LineOutput } from '../platform/log/logger.js';
import { LOG_OUTPUT } from '../platform/log/logger.js';
import { AuditRetentionJob } from './audit-retention.job.js';
import { AuditTrailReader } from './audit-trail.reader.js';
import type { AuditSink } from './sinks/audit-sink.js';
import { AuditStreaming } from './sinks/audit-streaming.js';
import { SinkCursorRepository } from './sinks/sink-cursor.repository.js';
import type { SinkSettings } from './sinks/sink-settings.js';
import { sinkSettings } from './sinks/sink-settings.js';
import { StandardOutputSink } from './sinks/standard-output.sink.js';
import { SyslogSink } from './sinks/syslog.sink.js';
import { WebhookSink } from './sinks/webhook.sink.js';
import { ACTIVE_USER_PURGE, ActiveUsersJob } from './usage/active-users.job.js';

@Module({
  providers: [
    SinkCursorRepository,
    AuditRetentionJob,
    ActiveUsersJob,
    purging(ACTIVE_USER_PURGE),
    {
      provide: AuditStreaming,
      inject: [Database, SinkCursorRepository, STARTUP, Leader, Clock, LOGGER, LOG_OUTPUT],
      useFactory: streaming,
    },
  ],
  exports: [AuditStreaming],
})
export class AuditJobsModule {}

function streaming(
  database: Database,
  cursors: SinkCursorRepository,
  { config }: Startup,
  leader: Leader,
  clock: Clock,
  log: Logger,
  output: LineOutput,
): AuditStreaming {
  // The host name in syslog messages.
  const { hostname } = new URL(config.baseUrl);
  const trail = new AuditTrailReader(database.background);
  const parts = { trail, cursors, leader, clock, log };
  return new AuditStreaming(sinksOf(sinkSettings(config), hostname, clock, output), parts);
}

function sinksOf(
  { webhook, syslog, standardOutput }: SinkSettings,
  hostname: string,
  clock: Clock,
  output: LineOutput,
): AuditSink[] {
  return [
    ...(webhook === undefined ? [] : [new WebhookSink(webhook, clock)]),
    ...(syslog === undefined ? [] : [new SyslogSink(syslog, hostname)]),
    ...(standardOutput ? [new StandardOutputSink(output)] : []),
  ];
}
