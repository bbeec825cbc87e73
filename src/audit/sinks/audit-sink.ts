// A sink of the audit trail gets every event, in order, at least once.
import type { PlacedEvent } from '../audit-trail.reader.js';
import { shownEvent } from '../audit-trail.reader.js';
import type { Position } from '../trail-statements.sql.js';

/** An event on its way to the sinks. */
export interface StreamedEvent {
  /** The id of its row: unique for an event, and the same if the event comes twice. */
  readonly id: string;
  /** Where a sink is that has had it. */
  readonly position: Position;
  readonly name: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly occurredAt: string;
  /** All of it, as a JSON object. */
  readonly json: string;
}

export function streamedEvent({ event, position }: PlacedEvent): StreamedEvent {
  const shown = shownEvent(event);
  const { id, event: name, occurredAt } = shown;
  return { id, position, name, occurredAt, json: JSON.stringify(shown) };
}

/** A sink took nothing. The message says why, with nothing of an event, an answer, an address or a secret. */
export class SinkError extends Error {
  /** Whether the receiver refuses what was handed over, as far as it says so. */
  readonly isOfContent: boolean;
  /** How long the receiver asks to be left alone, in milliseconds. */
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
   * So long after events were delivered they may still be lost if the connection breaks, in milliseconds. Only then does the
   * cursor move past them.
   */
  readonly unsafeMs: number = 0;

  /** Whether nothing that was delivered since `connect` has been lost as far as can be known. */
  isIntact(): boolean {
    return true;
  }

  /** Whether the connection before the present one was closed by the other side in good order, as far as that can be seen. */
  hadGoodEnd(): boolean {
    return false;
  }

  /**
   * Makes sure that there is a connection, where the sink keeps one.
   * @returns true if it is another than before: what was not safe then must be delivered again
   * @throws SinkError
   */
  connect(_signal: AbortSignal): Promise<boolean> {
    return Promise.resolve(false);
  }

  /**
   * Hands events over, in their order. Resolves when the sink has them all, as far as it can say so.
   * @param signal ends the waiting, because the process stops
   * @throws SinkError when it has not; it may have some of them then, and gets them again
   */
  abstract deliver(events: readonly StreamedEvent[], signal: AbortSignal): Promise<void>;

  /** Ends what is open. */
  abstract close(): Promise<void>;
}

/** A foreign error's code or class, since its text may hold an address or a part of an answer. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name);
}
