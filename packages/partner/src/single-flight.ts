// Lets concurrent callers with the same id share one piece of work.
import { unlessAborted } from './unless-aborted.js';

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export class SingleFlight<T> {
  private readonly flights = new Map<string, Flight<T>>();

  /**
   * @param work starts for the first caller; its signal aborts if nobody waits any more
   * @param signal ends the caller's wait with its reason
   */
  async join(
    id: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.flights.get(id) ?? this.begin(id, work);
    flight.waiting += 1;
    try {
      return await (signal === undefined ? flight.result : unlessAborted(flight.result, signal));
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) this.leave(id, flight);
    }
  }

  /** Later callers start new work. @param isOver receives the ids */
  forgetWhere(isOver: (id: string) => boolean): void {
    for (const id of this.flights.keys()) if (isOver(id)) this.flights.delete(id);
  }

  private begin(id: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight = { result: work(controller.signal), controller, waiting: 0 };
    this.flights.set(id, flight);
    const land = () => this.leave(id, flight, false);
    flight.result.then(land, land);
    return flight;
  }

  /** Later callers start new work. */
  private leave(id: string, flight: Flight<T>, isGivenUp = true): void {
    if (this.flights.get(id) === flight) this.flights.delete(id);
    if (isGivenUp) flight.controller.abort();
  }
}
