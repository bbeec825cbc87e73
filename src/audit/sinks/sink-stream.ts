// Streams the audit trail to one sink: reads from its cursor, delivers, and moves the cursor once events are
// safe.
import type { Clock } from '../../platform/clock.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import type { Log } from '../../platform/log/log.js';
import type { AuditTrailReader } from '../audit-trail.reader.js';
import type { Position } from '../trail-statements.sql.js';
import type { AuditSink, StreamedEvent } from './audit-sink.js';
import { SinkError, streamedEvent } from './audit-sink.js';
import type { Backlog, SinkCursorRepository } from './sink-cursor.repository.js';
import { BEGINNING, isAfter } from './sink-cursor.repository.js';

/** What was delivered to a sink, and when. */
export interface Delivery {
  /** After the last delivered event. */
  readonly position: Position;
  readonly atMs: number;
}

export class EndedConnections {
  /** In order, each with the time of its first such connection. */
  private sent: readonly Delivery[] = [];

  /**
   * Records another connection that has ended. Events that two such connections have carried are safe, if the
   * first one carried them longer ago than a break can affect.
   * @param deliveries the connection's deliveries since the cursor, in order
   * @param safeAtMs deliveries up to this time are old enough
   * @returns the position of the last event that two ended connections have carried; undefined if there is
   * none
   */
  ended(deliveries: readonly Delivery[], safeAtMs: number): Position | undefined {
    const reached = deliveries.at(-1)?.position;
    if (reached === undefined) return undefined;
    const twice = this.sent.filter(({ position }) => !isAfter(position, reached));
    const last = this.sent.at(-1)?.position;
    const others = deliveries.filter(({ position }) => last === undefined || isAfter(position, last));
    this.sent = [...this.sent, ...others];
    return twice.findLast(({ atMs }) => atMs <= safeAtMs)?.position;
  }

  /** Call it when the cursor has moved here. */
  confirmed(cursor: Position): void {
    this.sent = this.sent.filter(({ position }) => isAfter(position, cursor));
  }

  forget(): void {
    this.sent = [];
  }
}

/** The wait grows with each failure, so that a recovering receiver is not overloaded. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

export class BackOff {
  private failures = 0;
  private until = -Infinity;

  /** @param random returns a number from 0 up to 1 */
  constructor(private readonly random: () => number = Math.random) {}

  /** @param nowMs on a monotonic clock */
  isWaiting(nowMs: number): boolean {
    return nowMs < this.until;
  }

  /**
   * Doubles the wait, up to a minute, and shortens it at random by up to half, so that several senders do not
   * return at once.
   * @param leastMs the wait that the receiver has requested, in milliseconds
   */
  failed(nowMs: number, leastMs = 0): void {
    const longest = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
    this.failures += 1;
    this.until = nowMs + Math.max(leastMs, longest * (1 - this.random() / 2));
  }

  succeeded(): void {
    this.failures = 0;
    this.until = -Infinity;
  }
}

/** A page is held in memory, and parsed at once. */
const PAGE_EVENTS = 500;
/** The maximum bytes per delivery; a single event may be larger. */
const DELIVERY_BYTES = 2 ** 20;
const BACKLOG_EVERY_MS = 5_000;

export interface StreamParts {
  readonly trail: Pick<AuditTrailReader, 'after'>;
  readonly cursors: SinkCursorRepository;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
}

/** Another process is, or was meanwhile, the leader. */
class CursorMovedError extends Error {}

/** Counters of a sink's stream. */
interface StreamCounts {
  delivered: number;
  failures: number;
}

export class SinkStream {
  readonly counts: StreamCounts = { delivered: 0, failures: 0 };
  /** Undefined before the first check. */
  backlog: Backlog | undefined;
  private backlogAtMs = -Infinity;
  /** The position that this process has last read or written. */
  private cursor: Position | undefined;
  /** After the last delivered event; at the cursor or ahead of it. */
  private reached: Position | undefined;
  private unsafe: Delivery[] = [];
  private readonly endedConnections = new EndedConnections();
  /** Since when events have been sent that are not safe yet, over all connections. */
  private unsafeSinceMs: number | undefined;
  private hasReportedBreak = false;
  private most = PAGE_EVENTS;
  private readonly backOff = new BackOff();
  private failingSinceMs: number | undefined;
  /** The events of the current delivery. */
  private handed: readonly StreamedEvent[] = [];
  /** The refused event that was logged last. */
  private refusedId: string | undefined;

  constructor(
    readonly sink: AuditSink,
    private readonly parts: StreamParts,
  ) {}

  /**
   * Delivers until nothing is left or it must stop. After a failure it waits before the next attempt.
   * @param signal stops it at once
   */
  async run(mayGoOn: MayGoOn, signal: AbortSignal): Promise<void> {
    try {
      if (!this.backOff.isWaiting(this.parts.clock.monotonicMs())) await this.stream(mayGoOn, signal);
      await this.lookAtBacklog();
    } catch (error) {
      // Cursor and events are read again: a standby that took over may lack some.
      this.cursor = undefined;
      if (!(error instanceof SinkError)) this.forgetSent();
      if (!signal.aborted && !(error instanceof CursorMovedError)) this.failed(error);
    }
  }

  private async stream(mayGoOn: MayGoOn, signal: AbortSignal): Promise<void> {
    await this.resume(signal);
    await this.confirm();
    while (mayGoOn() && (await this.deliverNext(signal))) {
      await this.confirm();
      await this.lookAtBacklog();
    }
    await this.confirm();
    this.succeeded();
  }

  /** Returns to the cursor if another process has moved it, or the connection is new. */
  private async resume(signal: AbortSignal): Promise<void> {
    const { sink } = this;
    const cursor = await this.readCursor();
    // An unreachable sink has a backlog too.
    this.reached ??= cursor;
    const isNew = await sink.connect(signal);
    const isElsewhere = this.cursor !== undefined && !isSame(cursor, this.cursor);
    if (!isNew && this.cursor !== undefined && !isElsewhere) return;
    if (isElsewhere) this.forgetSent();
    this.cursor = isNew ? await this.afterBreak(cursor) : cursor;
    this.reached = this.cursor;
    this.unsafe = [];
  }

  /**
   * Sends unsafe events again after a broken connection, unless connections always end before events become
   * safe.
   */
  private async afterBreak(cursor: Position): Promise<Position> {
    const { sink, unsafe, endedConnections, parts } = this;
    if (unsafe.length === 0) return cursor;
    this.reportBreak();
    if (!sink.hadGoodEnd()) return cursor;
    const safe = endedConnections.ended(unsafe, parts.clock.monotonicMs() - sink.unsafeMs);
    if (safe === undefined || !isAfter(safe, cursor)) return cursor;
    if (!(await parts.cursors.move(sink.name, cursor, safe))) throw new CursorMovedError();
    endedConnections.confirmed(safe);
    this.unsafeSinceMs = undefined;
    return safe;
  }

  /** Logs a broken connection once, until a connection lasts. An ongoing failure is not counted again. */
  private reportBreak(): void {
    if (this.failingSinceMs !== undefined) return;
    this.counts.failures += 1;
    if (this.hasReportedBreak) return;
    this.hasReportedBreak = true;
    this.parts.log.warn(
      { sink: this.sink.name },
      'the connection to a sink of the audit trail broke: the last events are sent again',
    );
  }

  private forgetSent(): void {
    this.unsafe = [];
    this.unsafeSinceMs = undefined;
    this.endedConnections.forget();
  }

  private async readCursor(): Promise<Position> {
    const { cursors } = this.parts;
    const { name } = this.sink;
    let cursor = await cursors.cursorOf(name);
    if (cursor === undefined) {
      await cursors.begin(name);
      cursor = await cursors.cursorOf(name);
    }
    if (cursor === undefined) throw new SinkError('its cursor was removed at this moment');
    if (cursor.isAhead) await this.refuseAhead();
    return cursor.position;
  }

  /**
   * After a restore on another server, a sink's position is unknown: it gets nothing until an operator sets
   * it.
   */
  private async refuseAhead(): Promise<never> {
    await this.parts.cursors.markAhead(this.sink.name);
    this.reached = BEGINNING;
    throw new SinkError(
      'its cursor is ahead of the database, which was restored on another server: see docs/reference/audit-streams.md#after-a-restore',
    );
  }

  /** @returns whether there may be more */
  private async deliverNext(signal: AbortSignal): Promise<boolean> {
    const { reached } = this;
    if (reached === undefined) return false;
    const news = await this.parts.trail.after(reached, PAGE_EVENTS);
    const page = news.events.map(streamedEvent);
    const events = firstOf(page, this.most);
    const last = events.at(-1);
    if (last === undefined) return false;
    this.handed = events;
    await this.sink.deliver(events, signal);
    this.handed = [];
    this.counts.delivered += events.length;
    this.reached = last.position;
    const atMs = this.parts.clock.monotonicMs();
    this.unsafe.push({ position: this.reached, atMs });
    this.unsafeSinceMs ??= atMs;
    this.most = Math.min(this.most * 2, PAGE_EVENTS);
    return news.end !== undefined || events.length < page.length;
  }

  /** Moves the cursor past the events that are safe by now (D87). */
  private async confirm(): Promise<void> {
    const { sink, unsafe, cursor } = this;
    const safeAtMs = this.parts.clock.monotonicMs() - sink.unsafeMs;
    const safe = unsafe.filter(({ atMs }) => atMs <= safeAtMs);
    const last = safe.at(-1);
    if (last === undefined || cursor === undefined || !sink.isIntact()) return;
    if (!(await this.parts.cursors.move(sink.name, cursor, last.position))) throw new CursorMovedError();
    this.cursor = last.position;
    this.unsafe = unsafe.slice(safe.length);
    this.unsafeSinceMs = this.unsafe[0]?.atMs;
    this.endedConnections.confirmed(last.position);
    this.hasReportedBreak = false;
  }

  private succeeded(): void {
    this.backOff.succeeded();
    if (this.failingSinceMs === undefined) return;
    const seconds = Math.round((this.parts.clock.monotonicMs() - this.failingSinceMs) / 1000);
    this.failingSinceMs = undefined;
    this.parts.log.info({ sink: this.sink.name, seconds }, 'a sink of the audit trail receives events again');
  }

  /**
   * Halves the next delivery, in case its size was the cause. Logs once per outage, although attempts
   * continue.
   */
  private failed(error: unknown): void {
    const nowMs = this.parts.clock.monotonicMs();
    this.counts.failures += 1;
    this.backOff.failed(nowMs, error instanceof SinkError ? error.retryAfterMs : 0);
    this.most = Math.max(1, Math.floor(this.most / 2));
    this.reportRefused(error);
    this.handed = [];
    if (this.failingSinceMs !== undefined) return;
    this.failingSinceMs = nowMs;
    const cause = error instanceof SinkError ? { reason: error.message } : { err: error };
    this.parts.log.warn(
      { sink: this.sink.name, ...cause },
      'a sink of the audit trail receives no events; they are kept for it',
    );
  }

  /** Logs an event that the sink refuses even alone. It blocks all later ones, so an operator must act. */
  private reportRefused(error: unknown): void {
    const [event, ...others] = this.handed;
    if (event === undefined || others.length > 0 || event.id === this.refusedId) return;
    if (!(error instanceof SinkError) || !error.isOfContent) return;
    this.refusedId = event.id;
    this.parts.log.error(
      { sink: this.sink.name, eventId: event.id, event: event.name, reason: error.message },
      'a sink of the audit trail refuses an event, so later events wait: see docs/reference/audit-streams.md#a-refused-event',
    );
  }

  private async lookAtBacklog(): Promise<void> {
    const nowMs = this.parts.clock.monotonicMs();
    if (this.reached === undefined || nowMs - this.backlogAtMs < BACKLOG_EVERY_MS) return;
    this.backlogAtMs = nowMs;
    const backlog = await this.parts.cursors.backlogAfter(this.reached);
    this.backlog = { ...backlog, seconds: Math.max(backlog.seconds, this.overdueSeconds()) };
  }

  /** How many seconds the oldest unsafe event is overdue. */
  private overdueSeconds(): number {
    const nowMs = this.parts.clock.monotonicMs();
    return (nowMs - (this.unsafeSinceMs ?? nowMs) - this.sink.unsafeMs) / 1000;
  }
}

function isSame(one: Position, other: Position): boolean {
  return one.transactionId === other.transactionId && one.eventId === other.eventId;
}

/** The first events that fit into one delivery; at least one. */
function firstOf(page: readonly StreamedEvent[], most: number): readonly StreamedEvent[] {
  let bytes = 0;
  const tooMany = page.findIndex(({ json }, index) => {
    bytes += Buffer.byteLength(json);
    return index > 0 && (index >= most || bytes > DELIVERY_BYTES);
  });
  return tooMany === -1 ? page : page.slice(0, tooMany);
}
