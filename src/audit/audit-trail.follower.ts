// Follows the audit trail for a command, whichever process writes to it. Sinks read by sinks/event-stream.repository.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { StoredEvent } from './audit-trail.reader.js';
import { storedEvent } from './audit-trail.reader.js';
import type { TrailFilter } from './trail-filter.js';
import type { FollowedRow } from './trail-statements.sql.js';
import { LOOK_AFTER, LOOK_AT, NEWEST_ID } from './trail-statements.sql.js';

const LOOK_EVERY_MS = 1_000;
const DEPTH = 1_000;
/**
 * A row gets its id before it is committed, so rows of smaller ids may come after those of larger ones. No transaction of the service
 * takes longer; an id that is missing for good belongs to one that was rolled back.
 */
const LATE_MS = 60_000;
/** So many missing ids are remembered. */
const MOST_MISSING = 10_000;
/** So many rows before the first one are searched for missing ids. */
const BEFORE = 500n;

@Injectable()
export class AuditTrailFollower {
  constructor(private readonly database: Database) {}

  /** Where the trail ends at present. */
  async newestId(): Promise<bigint> {
    const [newest] = await NEWEST_ID.run(this.database.dataSource, {});
    return BigInt(newest?.id ?? 0);
  }

  /**
   * Yields the events after an id that match a filter, once a second, even if there are none.
   * @param stop ends it
   */
  async *follow(
    filter: TrailFilter,
    after: bigint,
    stop: AbortSignal,
  ): AsyncGenerator<readonly StoredEvent[], void> {
    const place = new Following(this.database, filter);
    await place.learnMissing(after);
    while (!stop.aborted) {
      yield await place.news();
      if (!place.isBehind) await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}

/** How far one reader has come. */
class Following {
  /** Whether the last look ended before the trail did. */
  isBehind = false;
  private seen = 0n;
  /** When it was noticed first that an id is missing, the earliest first. */
  private readonly missing = new Map<bigint, number>();

  constructor(
    private readonly database: Database,
    private readonly filter: TrailFilter,
  ) {}

  async learnMissing(upTo: bigint): Promise<void> {
    this.seen = upTo > BEFORE ? upTo - BEFORE : 0n;
    const rows = await this.rowsBehind();
    this.noteMissing(rows.filter(({ id }) => BigInt(id) <= upTo));
    this.seen = upTo;
  }

  async news(): Promise<readonly StoredEvent[]> {
    const late = await this.late();
    const rows = await this.rowsBehind();
    this.noteMissing(rows);
    const last = rows.at(-1);
    if (last !== undefined) this.seen = BigInt(last.id);
    this.isBehind = last?.isEnd === true;
    return [...late, ...rows.filter(({ isFound }) => isFound)].map(storedEvent);
  }

  private rowsBehind(): Promise<FollowedRow[]> {
    return LOOK_AFTER.run(this.database.dataSource, { ...this.filter, after: this.seen, depth: DEPTH });
  }

  /** Rows that were missing, and have come. */
  private async late() {
    this.forgetOld();
    if (this.missing.size === 0) return [];
    const ids = [...this.missing.keys()];
    const rows = await LOOK_AT.run(this.database.dataSource, { ...this.filter, ids });
    for (const { id } of rows) this.missing.delete(BigInt(id));
    return rows.filter(({ isFound }) => isFound);
  }

  private forgetOld(): void {
    const now = performance.now();
    for (const [id, since] of this.missing)
      if (now - since > LATE_MS || this.missing.size > MOST_MISSING) this.missing.delete(id);
  }

  private noteMissing(rows: readonly FollowedRow[]): void {
    for (const { id, missing } of rows) {
      const count = Math.min(Number(missing), MOST_MISSING);
      for (let before = 1; before <= count; before++)
        this.missing.set(BigInt(id) - BigInt(before), performance.now());
    }
  }
}
