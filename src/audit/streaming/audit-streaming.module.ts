// Takes the audit trail to other places, and old events out of it.
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { outputOf } from '../../platform/log/logger.js';
import { Leader } from '../../platform/jobs/leader.js';
import { Clock } from '../../platform/clock.js';
import { LOGGER } from '../../platform/log/log.js';
import { Database } from '../../platform/database/database.js';
import { AuditTrailReader } from '../audit-trail.reader.js';
import { AuditRetentionJob } from '../retention/audit-retention.job.js';
import { AuditRetentionRepository } from '../retention/audit-retention.repository.js';
import type { AuditSink } from '../sinks/audit-sink.js';
import { AuditStreaming } from '../sinks/audit-streaming.js';
import { SinkCursorRepository } from '../sinks/sink-cursor.repository.js';
import type { SinkSettings } from '../sinks/sink-settings.js';
import { retentionSettings, sinkSettings } from '../sinks/sink-settings.js';
import { StandardOutputSink } from '../sinks/standard-output.sink.js';
import { SyslogSink } from '../sinks/syslog.sink.js';
import { WebhookSink } from '../sinks/webhook.sink.js';

@Module({
  providers: [
    SinkCursorRepository,
    AuditRetentionRepository,
    {
      provide: AuditStreaming,
      inject: [Database, SinkCursorRepository, STARTUP, Leader, Clock, LOGGER],
      useFactory: streaming,
    },
    {
      provide: AuditRetentionJob,
      inject: [AuditRetentionRepository, AuditStreaming, STARTUP, Leader, Clock, LOGGER],
      useFactory: retention,
    },
  ],
  exports: [AuditStreaming],
})
export class AuditStreamingModule {}

function streaming(
  database: Database,
  cursors: SinkCursorRepository,
  { config }: Startup,
  leader: Leader,
  clock: Clock,
  log: Logger,
): AuditStreaming {
  const { startAt, ...sinks } = sinkSettings(config);
  // What syslog messages name as the host that they come from.
  const { hostname } = new URL(config.baseUrl);
  const trail = new AuditTrailReader(database);
  const parts = { trail, cursors, leader, clock, log, startAt };
  return new AuditStreaming(sinksOf(sinks, hostname, clock, log), parts);
}

function retention(
  trail: AuditRetentionRepository,
  { sinkNames: sinks }: AuditStreaming,
  { config }: Startup,
  leader: Leader,
  clock: Clock,
  log: Logger,
): AuditRetentionJob {
  return new AuditRetentionJob(retentionSettings(config), { trail, leader, clock, log, sinks });
}

function sinksOf(
  { webhook, syslog, standardOutput }: Omit<SinkSettings, 'startAt'>,
  hostname: string,
  clock: Clock,
  log: Logger,
): AuditSink[] {
  return [
    ...(webhook === undefined ? [] : [new WebhookSink(webhook, clock)]),
    ...(syslog === undefined ? [] : [new SyslogSink(syslog, hostname)]),
    ...(standardOutput === undefined ? [] : [new StandardOutputSink(standardOutput.name, outputOf(log))]),
  ];
}
