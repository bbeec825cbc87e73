// Takes the audit trail to other places, and old events out of it.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { outputOf } from '../../platform/log/logger.js';
import { Leader } from '../../platform/jobs/leader.js';
import { Clock } from '../../platform/clock.js';
import { LOGGER } from '../../platform/log/log.js';
import { Database } from '../../platform/database/database.js';
import { AuditTrailReader } from '../audit-trail.reader.js';
import { AuditRetentionJob } from '../retention/audit-retention.job.js';
import { AuditRetentionRepository } from '../retention/audit-retention.repository.js';
import type { AuditSink } from '../sinks/audit-sink.js';
import type { SinkStatus } from '../sinks/audit-streaming.js';
import { AuditStreaming } from '../sinks/audit-streaming.js';
import { SinkCursorRepository } from '../sinks/sink-cursor.repository.js';
import type { RetentionSettings, SinkSettings } from '../sinks/sink-settings.js';
import { StandardOutputSink } from '../sinks/standard-output.sink.js';
import { SyslogSink } from '../sinks/syslog.sink.js';
import { WebhookSink } from '../sinks/webhook.sink.js';

interface AuditStreamingOptions {
  readonly sinks: SinkSettings;
  readonly retention: RetentionSettings;
  /** What syslog messages name as the host that they come from. */
  readonly hostname: string;
  /** Gets a function that reads the state of the streams. */
  readonly watch: (read: () => readonly SinkStatus[]) => void;
}

@Module({})
export class AuditStreamingModule {
  /** @param imports modules that offer clock, log, database and leader */
  static register(options: AuditStreamingOptions, imports: ModuleMetadata['imports']): DynamicModule {
    const { sinks, retention, hostname, watch } = options;
    const streaming = (
      database: Database,
      cursors: SinkCursorRepository,
      leader: Leader,
      clock: Clock,
      log: Logger,
    ) => {
      const streams = new AuditStreaming(sinksOf(sinks, hostname, clock, log), {
        trail: new AuditTrailReader(database),
        cursors,
        leader,
        clock,
        log,
        startAt: sinks.startAt,
      });
      watch(() => streams.status());
      return streams;
    };
    const deleting = (
      trail: AuditRetentionRepository,
      { sinkNames }: AuditStreaming,
      leader: Leader,
      clock: Clock,
      log: Logger,
    ) => new AuditRetentionJob(retention, { trail, leader, clock, log, sinks: sinkNames });
    return {
      module: AuditStreamingModule,
      imports,
      providers: [
        SinkCursorRepository,
        AuditRetentionRepository,
        {
          provide: AuditStreaming,
          inject: [Database, SinkCursorRepository, Leader, Clock, LOGGER],
          useFactory: streaming,
        },
        {
          provide: AuditRetentionJob,
          inject: [AuditRetentionRepository, AuditStreaming, Leader, Clock, LOGGER],
          useFactory: deleting,
        },
      ],
    };
  }
}

function sinksOf(settings: SinkSettings, hostname: string, clock: Clock, log: Logger): AuditSink[] {
  const { webhook, syslog, standardOutput } = settings;
  return [
    ...(webhook === undefined ? [] : [new WebhookSink(webhook, clock)]),
    ...(syslog === undefined ? [] : [new SyslogSink(syslog, hostname)]),
    ...(standardOutput === undefined ? [] : [new StandardOutputSink(standardOutput.name, outputOf(log))]),
  ];
}
