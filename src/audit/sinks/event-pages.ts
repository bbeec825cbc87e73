// Reads events page by page, once for all sinks that are at the same place.
import type { StreamedEvent } from './audit-sink.js';
import type { EventStreamRepository, Position } from './event-stream.repository.js';

/** So many pages one sink may be ahead of another; sinks that are further apart read each for itself. */
const PAGES_KEPT = 4;

/** The events after a position never change, so sinks share pages. */
export class EventPages {
  private readonly kept = new Map<string, Promise<StreamedEvent[]>>();

  constructor(private readonly trail: Pick<EventStreamRepository, 'after'>) {}

  /** See `EventStreamRepository.after`; what was written since the page was read is not in it, and follows it. */
  after(position: Position, limit: number): Promise<StreamedEvent[]> {
    const key = `${position.transactionId} ${position.eventId} ${limit}`;
    return this.kept.get(key) ?? this.read(key, position, limit);
  }

  /** For when the database may be another one by now: what it answered before need not be in it. */
  forget(): void {
    this.kept.clear();
  }

  private read(key: string, position: Position, limit: number): Promise<StreamedEvent[]> {
    const page = this.trail.after(position, limit);
    this.kept.set(key, page);
    const forget = () => void (this.kept.get(key) === page && this.kept.delete(key));
    // Nothing follows yet: the next one who asks is to look again.
    page.then((events) => events.length === 0 && forget(), forget);
    const [oldest] = this.kept.keys();
    if (this.kept.size > PAGES_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return page;
  }
}
