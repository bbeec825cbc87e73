// Deletes events of the audit trail that are older than the configuration wants them, in the background.
import { setTimeout as pause } from 'node:timers/promises';
import { ApplicationJob } from '../../platform/jobs/periodic.job.js';
import type { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import type { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import type { RetentionSettings } from '../sinks/sink-settings.js';
import type { AuditRetentionRepository, Expiry } from './audit-retention.repository.js';

const WINDOW_EVENTS = 1_000;
/** Lets requests in between two windows. */
const PAUSE_MS = 20;
const DAY_MS = 86_400_000;

interface RetentionParts {
  readonly trail: AuditRetentionRepository;
  readonly leader: Leader;
  readonly clock: Clock;
  readonly log: Log;
  /** The names of those that events are kept for. */
  readonly sinks: readonly string[];
}

export class AuditRetentionJob extends ApplicationJob {
  /** @param settings with days, or nothing is ever deleted */
  constructor(
    private readonly settings: RetentionSettings,
    private readonly parts: RetentionParts,
  ) {
    super({ name: 'audit-retention', intervalSeconds: 60 }, parts.leader, parts.log);
  }

  override async onApplicationBootstrap(): Promise<void> {
    if (this.settings.days > 0) await super.onApplicationBootstrap();
  }

  /**
   * Goes through the oldest events until a window comes of which nothing may go.
   * @rule D90 Events go after the configured days, once every configured sink has had them; after the most days in any case.
   */
  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    const { trail, log } = this.parts;
    const expiry = this.expiry();
    const total = { deleted: 0, missed: 0 };
    let afterId = '0';
    while (mayGoOn()) {
      const { deleted, missed, lastId } = await trail.deleteWindow(afterId, WINDOW_EVENTS, expiry);
      total.deleted += deleted;
      total.missed += missed;
      if (deleted === 0 || lastId === undefined) break;
      afterId = lastId;
      await pause(PAUSE_MS);
    }
    if (total.deleted > 0) log.debug(total, 'old events of the audit trail deleted');
    if (total.missed > 0) {
      const { missed } = total;
      log.error(
        { missed },
        'events of the audit trail were deleted that a sink has not had: SVC_AUDIT_MAX_DAYS has passed',
      );
    }
  }

  private expiry(): Expiry {
    const { clock, sinks } = this.parts;
    const { days, maxDays } = this.settings;
    const now = clock.now();
    const before = (age: number) => new Date(now.getTime() - age * DAY_MS);
    return { now, before: before(days), sinks, ...(maxDays > 0 && { atLatestBefore: before(maxDays) }) };
  }
}
