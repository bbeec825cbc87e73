// One request of a flow: who has sent it, and how long it may still wait for the database.
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import type { Tokens } from '../verify/tokens.js';
import { DatabaseWaitError } from '../../platform/database/database-error.js';
import { SharedWait } from '../../platform/database/wait-limit.js';
import type { Flow } from './flows.js';
import type { ExchangeTelemetry, Stage } from '../host/telemetry.js';

/** A hit that may be refunded. */
export interface Hit {
  readonly key: string;
  readonly countedAtMs: number;
}

/** Throttle hits of a request. */
export interface CountedHits {
  readonly ofEntries: readonly Hit[];
  /** Refunded because the entries count the request; counted again if it fails. */
  readonly ofAddress: Hit | undefined;
}

/** The parts of a request. */
type Received = Pick<FlowRequest, 'flow' | 'requestId' | 'clientAddress' | 'arrivedAtMs' | 'giveUpPlace'> & {
  readonly leftMs: number;
};

/** Its verification, which may fetch keys, is no part of what it waits for the database. */
export class FlowRequest extends SharedWait {
  readonly flow: Flow;
  readonly requestId: string;
  /** As the throttle counts clients. */
  readonly clientAddress: string;
  /** When its guards had counted it, on the monotonic clock in milliseconds. */
  readonly arrivedAtMs: number;
  /** Hits counted outside of its guard, refunded if the request fails. */
  hits: CountedHits | undefined;
  /** Once they are verified. */
  tokens?: Tokens;
  /** Once it has authenticated. */
  client?: AuthenticatedClient;
  /** Lets others be processed while it waits. */
  readonly giveUpPlace: () => void;

  constructor(
    { flow, requestId, clientAddress, arrivedAtMs, leftMs, giveUpPlace }: Received,
    private readonly telemetry: ExchangeTelemetry,
  ) {
    super(leftMs);
    this.flow = flow;
    this.requestId = requestId;
    this.clientAddress = clientAddress;
    this.arrivedAtMs = arrivedAtMs;
    this.giveUpPlace = giveUpPlace;
  }

  /**
   * Runs a stage in a span of its own and observes how long it took, also when it failed.
   * @throws DatabaseWaitError `time_limit`: none begins for a request that has had its answer
   */
  async stage<T>(name: Stage, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    if (startedAt > this.deadlineMs) throw new DatabaseWaitError('time_limit');
    try {
      return await this.telemetry.traced({ name, flow: this.flow }, work);
    } finally {
      this.telemetry.observeStage(this.flow, name, (performance.now() - startedAt) / 1000);
    }
  }
}
