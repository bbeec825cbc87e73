// Reports when the database stops serving requests and when it is back, and counts what was refused meanwhile.
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Database } from '../database/database.js';
import type { Unavailability } from '../database/database-error.js';
import { unavailabilityOf } from '../database/database-error.js';
import type { Log } from '../log/log.js';
import { TemporarilyUnavailableException, RETRY_AFTER_SECONDS } from './temporarily-unavailable.exception.js';

/** Work of a client that needs the database. */
export interface RefusedWork {
  /** Its name in metrics. */
  readonly label: string;
  /** What the client does next, for its answer. */
  readonly retryAdvice: string;
}

/** The 503 in place of an error of the database, which may still have done what it was asked. */
function databaseRefusal({ retryAdvice }: RefusedWork): TemporarilyUnavailableException {
  const message = `The instance cannot reach its database at the moment; ${retryAdvice}`;
  return new TemporarilyUnavailableException(message, RETRY_AFTER_SECONDS.database);
}

/** While it is away it is asked so often whether it is back. */
const LOOK_EVERY_MS = 1_000;
/**
 * It counts as back after so long without a refusal: a database that answers may still not serve, because of a lock for example.
 */
const QUIET_MS = 3_000;

interface Outage {
  /** On the monotonic clock, as the next. */
  readonly beganAtMs: number;
  latestMs: number;
  refused: number;
  unrecorded: number;
}

/** Who wants to count. */
interface OutageWatch {
  onRefused?(label: string, why: Unavailability): void;
  /** An event that stands for itself could not be written to the audit trail. */
  onUnrecorded?(): void;
}

/**
 * One line of the log when the database goes, and one when it is back.
 * @rule D49 Requests that the database cannot serve get 503 with `Retry-After`, and wait for it less than two seconds in all.
 * See database/database-error.ts for which errors these are, database/wait-limit.ts for the wait.
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

  /** The refusal for an error: a counted 503 if the database is the cause, else the error itself. */
  refusalOf(error: unknown, work: RefusedWork): unknown {
    // The readings that those wait for are missing because the database is away.
    if (error instanceof TemporarilyUnavailableException && this.outage !== undefined)
      this.outage.refused += 1;
    const why = unavailabilityOf(error);
    if (why === undefined) return error;
    this.note(why, work.label);
    return databaseRefusal(work);
  }

  /** Whether an event is not in the trail because the database cannot serve; then it is counted. */
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
      this.logger.error({ why }, 'the database does not serve: requests that need it are answered 503');
      this.lookLater();
    }
    this.outage.latestMs = nowMs;
    this.outage.refused += 1;
  }

  private lookLater(): void {
    this.timer = setTimeout(() => void this.look(), LOOK_EVERY_MS);
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
      'the database serves again; requests were refused meanwhile',
    );
  }
}
