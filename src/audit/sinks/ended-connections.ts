// Events sent over connections that the sink closed in good order before they were safe, so that short connections make progress
// too.
import type { Position } from '../trail-statements.sql.js';
import { isBehind } from './sink-cursor.repository.js';

/** What a sink was given, and when. */
export interface Delivery {
  /** Behind the last event of it. */
  readonly position: Position;
  readonly atMs: number;
}

export class EndedConnections {
  /** In their order, each with the time of its first such connection. */
  private sent: readonly Delivery[] = [];

  /**
   * Another one has ended. What was sent longer ago than a break can reach back, and over two of them, is safe (D89).
   * @param deliveries over that one, in their order, from the cursor on
   * @param safeAtMs what was sent up to then has had its time
   * @returns behind what went over two of them, the first time long enough ago; undefined where nothing did
   */
  ended(deliveries: readonly Delivery[], safeAtMs: number): Position | undefined {
    const reached = deliveries.at(-1)?.position;
    if (reached === undefined) return undefined;
    const twice = this.sent.filter(({ position }) => !isBehind(position, reached));
    const last = this.sent.at(-1)?.position;
    const others = deliveries.filter(({ position }) => last === undefined || isBehind(position, last));
    this.sent = [...this.sent, ...others];
    return twice.findLast(({ atMs }) => atMs <= safeAtMs)?.position;
  }

  /** The cursor is there now. */
  confirmed(cursor: Position): void {
    this.sent = this.sent.filter(({ position }) => isBehind(position, cursor));
  }

  forget(): void {
    this.sent = [];
  }
}
