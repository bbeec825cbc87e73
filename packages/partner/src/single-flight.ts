// Lets all who ask for the same thing at once wait for one doing of it.
import { unlessAborted } from './unless-aborted.js';

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export class SingleFlight<T> {
  private readonly flights = new Map<string, Flight<T>>();

  /**
   * @param work begun for the first who asks; its signal aborts once nobody waits any more
   * @param signal gives up waiting, with its reason
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

  /** Whoever asks from now on begins anew. @param isOver by the id that was asked for */
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

  /** Whoever asks from now on begins anew. */
  private leave(id: string, flight: Flight<T>, isGivenUp = true): void {
    if (this.flights.get(id) === flight) this.flights.delete(id);
    if (isGivenUp) flight.controller.abort();
  }
}
