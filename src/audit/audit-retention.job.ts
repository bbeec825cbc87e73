// Deletes old events of the audit trail, window by window from its beginning.
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Config } from '../config/load-config.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { Database } from '../platform/database/database.js';
import { Leader } from '../platform/jobs/leader.js';
import type { MayGoOn } from '../platform/jobs/periodic.job.js';
import { ApplicationJob } from '../platform/jobs/periodic.job.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import { AuditStreaming } from './sinks/audit-streaming.js';
import { IS_AHEAD } from './sinks/sink-cursor.repository.js';

const WINDOW_EVENTS = 1_000;
/** Lets requests run between two windows. */
const PAUSE_MS = 20;
const DAY_MS = 86_400_000;

/**
 * Finds a window by the primary key. It has the oldest events first, so the time needs no index. A sink without a
 * cursor has received nothing. If a cursor is ahead of the database, the statement keeps all events, because it is
 * unknown what the sink has received. If this process's clock is ahead, the limits move by the difference (`ahead`),
 * so that a wrong clock cannot empty the trail.
 */
const DELETION = `WITH clocks AS (
    SELECT greatest($6::timestamptz - clock_timestamp(), interval '0') AS ahead
  ), slowest AS (
    SELECT CASE WHEN name IS NULL OR ${IS_AHEAD} THEN -1 ELSE transaction_id END AS transaction_id, coalesce(event_id, 0) AS event_id
    FROM unnest($4::text[]) AS sink LEFT JOIN audit_sink_cursor ON audit_sink_cursor.name = sink
    ORDER BY 1, 2 LIMIT 1
  ), oldest AS (
    SELECT id, occurred_at, coalesce((transaction_id, id) <= (SELECT transaction_id, event_id FROM slowest), true) AS is_received
    FROM audit_event WHERE id > $1 ORDER BY id LIMIT $2
  ), deleted AS (
    DELETE FROM audit_event USING oldest, clocks
    WHERE audit_event.id = oldest.id
      AND (oldest.is_received AND oldest.occurred_at < $3::timestamptz - ahead OR oldest.occurred_at < $5::timestamptz - ahead)
    RETURNING oldest.is_received
  )
  SELECT (SELECT max(id) FROM oldest) AS "lastId", count(*)::int AS deleted,
    (count(*) FILTER (WHERE NOT is_received))::int AS missed
  FROM deleted`;

/** The result of one window. */
interface DeletedWindow {
  readonly deleted: number;
  /** The number of deleted events that at least one sink has not received. */
  readonly missed: number;
  /** The last id of the window; null if it was empty. */
  readonly lastId: string | null;
}

/** The configured ages of events, in days; 0 means none. */
type Ages = Pick<Config, 'auditRetentionDays' | 'auditMaxDays'>;

@Injectable()
export class AuditRetentionJob extends ApplicationJob {
  private readonly ages: Ages;
  private readonly sinks: readonly string[];

  constructor(
    @Inject(STARTUP) { config }: { readonly config: Ages },
    @Inject(AuditStreaming) { sinkNames }: Pick<AuditStreaming, 'sinkNames'>,
    private readonly database: Database,
    private readonly clock: Clock,
    leader: Leader,
    @Inject(LOGGER) private readonly log: Log,
  ) {
    super({ name: 'audit-retention', intervalSeconds: 60 }, leader, log);
    this.ages = config;
    this.sinks = sinkNames;
  }

  override async onApplicationBootstrap(): Promise<void> {
    if (this.ages.auditRetentionDays > 0) await super.onApplicationBootstrap();
  }

  /**
   * Deletes window by window, oldest events first, until a window has no event to delete. An event is deleted
   * after the configured days if every configured sink has received it. After the maximum number of days it is
   * always deleted.
   */
  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    const now = this.clock.now();
    const total = { deleted: 0, missed: 0 };
    let afterId: string | null = '0';
    while (mayGoOn() && afterId !== null) {
      const { deleted, missed, lastId } = await this.deleteWindow(afterId, now);
      total.deleted += deleted;
      total.missed += missed;
      if (deleted === 0) break;
      afterId = lastId;
      await pause(PAUSE_MS);
    }
    const { deleted, missed } = total;
    if (deleted > 0) this.log.debug(total, 'old events of the audit trail deleted');
    if (missed > 0)
      this.log.error(
        { missed },
        'events of the audit trail were deleted before a sink received them: SVC_AUDIT_MAX_DAYS has passed',
      );
  }

  /** Deletes the events of the next window that may be deleted. */
  private async deleteWindow(afterId: string, now: Date): Promise<DeletedWindow> {
    const { auditRetentionDays: days, auditMaxDays: maxDays } = this.ages;
    const before = (age: number) => new Date(now.getTime() - age * DAY_MS);
    const [row] = await this.database.background.query<DeletedWindow>(DELETION, [
      ...[afterId, WINDOW_EVENTS, before(days), this.sinks],
      ...[maxDays > 0 ? before(maxDays) : null, now],
    ]);
    return row ?? { deleted: 0, missed: 0, lastId: null };
  }
}
