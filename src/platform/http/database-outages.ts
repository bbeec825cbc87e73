// Reports the beginning and end of database outages, and counts refused requests.
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Database } from '../database/database.js';
import type { Unavailability } from '../database/database-error.js';
import { unavailabilityOf } from '../database/database-error.js';
import type { Log } from '../log/log.js';
import { RETRY_AFTER_SECONDS, TemporarilyUnavailableException } from './temporarily-unavailable.exception.js';

/** A client's request that needs the database. */
export interface RefusedWork {
  /** Its name in metrics. */
  readonly label: string;
  /** What the client should do next, for the response. */
  readonly retryAdvice: string;
}

/** The 503 for a database error. The database may still have done the work. */
function databaseRefusal({ retryAdvice }: RefusedWork): TemporarilyUnavailableException {
  const message = `The instance cannot reach its database at the moment; ${retryAdvice}`;
  return new TemporarilyUnavailableException(message, RETRY_AFTER_SECONDS.database);
}

/** How often an unavailable database is checked. */
const POLL_INTERVAL_MS = 1_000;
/**
 * An outage ends after this time without a refusal: a database that answers the check may still block
 * requests, for example because of a lock.
 */
const QUIET_MS = 3_000;

interface Outage {
  /** On the monotonic clock, like `latestMs`. */
  readonly beganAtMs: number;
  latestMs: number;
  refused: number;
  unrecorded: number;
}

/** Callbacks for metrics. */
interface OutageWatch {
  onRefused?(label: string, why: Unavailability): void;
  /** A standalone event could not be written to the audit trail. */
  onUnrecorded?(): void;
}

/**
 * Logs one line when the database becomes unavailable, and one when it is back.
 * @rule D49 If the database is unavailable, requests get 503 with `Retry-After`. They wait less than two
 * seconds in all. See database/database-error.ts for the errors, and database/wait-limit.ts for the wait.
 */
export class DatabaseOutages implements OnApplicationShutdown {
  private outage: Outage | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly logger: Log,
    private readonly watch: OutageWatch = {},
  ) {}

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  /** The error for the client: a counted 503 if the database is the cause; otherwise the error itself. */
  refusalOf(error: unknown, work: RefusedWork): unknown {
    // During an outage these exceptions are caused by it too: the missing data cannot be read.
    if (error instanceof TemporarilyUnavailableException && this.outage !== undefined)
      this.outage.refused += 1;
    const why = unavailabilityOf(error);
    if (why === undefined) return error;
    this.note(why, work.label);
    return databaseRefusal(work);
  }

  /** Whether an event is missing in the trail because of the database. Counts it if so. */
  isUnrecorded(error: unknown): boolean {
    if (unavailabilityOf(error) === undefined) return false;
    this.watch.onUnrecorded?.();
    if (this.outage !== undefined) this.outage.unrecorded += 1;
    return true;
  }

  private note(why: Unavailability, label: string): void {
    this.watch.onRefused?.(label, why);
    const nowMs = performance.now();
    if (this.outage === undefined) {
      this.outage = { beganAtMs: nowMs, latestMs: nowMs, refused: 0, unrecorded: 0 };
      this.logger.error({ why }, 'the database is unavailable: requests that need it get 503');
      this.lookLater();
    }
    this.outage.latestMs = nowMs;
    this.outage.refused += 1;
  }

  private lookLater(): void {
    this.timer = setTimeout(() => void this.look(), POLL_INTERVAL_MS);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    const { outage } = this;
    if (outage === undefined) return;
    const isQuiet = performance.now() - outage.latestMs >= QUIET_MS;
    if (isQuiet && (await this.serves())) this.end(outage);
    else this.lookLater();
  }

  private async serves(): Promise<boolean> {
    try {
      const { dataSource } = this.database;
      const [row] = await dataSource.query<{ is: string }[]>(
        `SELECT current_setting('transaction_read_only') AS is`,
      );
      return row?.is === 'off';
    } catch {
      return false;
    }
  }

  private end({ beganAtMs, latestMs, refused, unrecorded }: Outage): void {
    this.outage = undefined;
    const seconds = Math.round((latestMs - beganAtMs) / 100) / 10;
    this.logger.warn(
      { seconds, refused, unrecorded },
      'the database is available again; requests were refused meanwhile',
    );
  }
}
