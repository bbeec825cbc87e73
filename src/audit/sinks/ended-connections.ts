// Tracks unsafe events on connections that the receiver has closed properly, so that short connections make
// progress too.
import type { Position } from '../trail-statements.sql.js';
import { isBehind } from './sink-cursor.repository.js';

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
    const twice = this.sent.filter(({ position }) => !isBehind(position, reached));
    const last = this.sent.at(-1)?.position;
    const others = deliveries.filter(({ position }) => last === undefined || isBehind(position, last));
    this.sent = [...this.sent, ...others];
    return twice.findLast(({ atMs }) => atMs <= safeAtMs)?.position;
  }

  /** Call it when the cursor has moved here. */
  confirmed(cursor: Position): void {
    this.sent = this.sent.filter(({ position }) => isBehind(position, cursor));
  }

  forget(): void {
    this.sent = [];
  }
}
