// An audit sink receives every event, in order, at least once.
import type { PlacedEvent } from '../audit-trail.reader.js';
import { shownEvent } from '../audit-trail.reader.js';
import type { Position } from '../trail-statements.sql.js';

/** An event on its way to the sinks. */
export interface StreamedEvent {
  /** The id of its row: unique per event, and unchanged if the event is sent again. */
  readonly id: string;
  /** The position of a sink that has received the event. */
  readonly position: Position;
  readonly name: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly occurredAt: string;
  /** The complete event as a JSON object. */
  readonly json: string;
}

export function streamedEvent({ event, position }: PlacedEvent): StreamedEvent {
  const shown = shownEvent(event);
  const { id, event: name, occurredAt } = shown;
  return { id, position, name, occurredAt, json: JSON.stringify(shown) };
}

/**
 * A delivery failed. The message contains the cause, but nothing of an event, a response, an address or a
 * secret.
 */
export class SinkError extends Error {
  /** Whether the receiver refuses the content, as far as it says so. */
  readonly isOfContent: boolean;
  /** How long the receiver asks the sink to wait, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(message: string, { isOfContent = false, retryAfterMs = 0 } = {}) {
    super(message);
    this.isOfContent = isOfContent;
    this.retryAfterMs = retryAfterMs;
  }
}

export abstract class AuditSink {
  abstract readonly name: string;

  /**
   * How long delivered events may still be lost if the connection breaks, in milliseconds. The cursor moves
   * past them only after this time.
   */
  readonly unsafeMs: number = 0;

  /** Whether nothing that was delivered since `connect` is known to be lost. */
  isIntact(): boolean {
    return true;
  }

  /** Whether the receiver closed the previous connection properly, as far as can be known. */
  hadGoodEnd(): boolean {
    return false;
  }

  /**
   * Ensures that a connection exists, if the sink uses one.
   * @returns true if the connection is new: unsafe events must be delivered again
   * @throws SinkError
   */
  connect(_signal: AbortSignal): Promise<boolean> {
    return Promise.resolve(false);
  }

  /**
   * Delivers events in order. Resolves when the sink has received them all, as far as it can know.
   * @param signal ends the wait when the process stops
   * @throws SinkError if the delivery failed; the sink may have received some events, and gets them again
   */
  abstract deliver(events: readonly StreamedEvent[], signal: AbortSignal): Promise<void>;

  /** Closes the sink's connection. */
  abstract close(): Promise<void>;
}

/** The code or class of a foreign error, whose message may contain an address or a part of a response. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name);
}
