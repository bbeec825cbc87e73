// One request: its client, and its remaining wait for the database.
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
type Received = Pick<FlowRequest, 'flow' | 'requestId' | 'clientAddress' | 'arrivedAtMs' | 'releaseSlot'> & {
  readonly leftMs: number;
};

/** The wait for the database does not include verification, which may fetch keys. */
export class ClientRequest extends SharedWait {
  readonly requestId: string;
  /** The client's address, as the throttle counts it. */
  readonly clientAddress: string;

  constructor({
    requestId,
    clientAddress,
    leftMs,
  }: Pick<Received, 'requestId' | 'clientAddress' | 'leftMs'>) {
    super(leftMs);
    this.requestId = requestId;
    this.clientAddress = clientAddress;
  }
}

/** A request of a flow. */
export class FlowRequest extends ClientRequest {
  readonly flow: Flow;
  /** The time after its guards, on the monotonic clock in milliseconds. */
  readonly arrivedAtMs: number;
  /** Hits counted outside of its guard, refunded if the request fails. */
  hits: CountedHits | undefined;
  /** Once they are verified. */
  tokens?: Tokens;
  /** Once it has authenticated. */
  client?: AuthenticatedClient;
  /** Lets other requests be processed while it waits. */
  readonly releaseSlot: () => void;

  constructor(
    { flow, arrivedAtMs, releaseSlot, ...received }: Received,
    private readonly telemetry: ExchangeTelemetry,
  ) {
    super(received);
    this.flow = flow;
    this.arrivedAtMs = arrivedAtMs;
    this.releaseSlot = releaseSlot;
  }

  /**
   * Runs a stage in its own span, and measures its duration, also if it fails.
   * @throws DatabaseWaitError `time_limit`: if the request is already answered
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
