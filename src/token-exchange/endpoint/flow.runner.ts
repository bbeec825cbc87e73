// A request with its deadline and the record of its failure. A flow's request also has times and spans of its stages, and the refund
// of its throttle hits.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { DatabaseWaitError } from '../../platform/database/database-error.js';
import { SharedWait } from '../../platform/database/wait-limit.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import type { HttpRequest, RequestState } from '../../platform/http/http-messages.js';
import { requestIdOf, stateOf } from '../../platform/http/http-messages.js';
import { TemporarilyUnavailableException } from '../../platform/http/temporarily-unavailable.exception.js';
import {
  clientOf,
  isOverOfStrangers,
  MemoryCounts,
  TooManyRequestsError,
} from '../../platform/http/throttle/rate-limit.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import type { AuditEvent, AuditPayloads } from '../audit/audit-trail.js';
import { AuditBus, auditEvent } from '../audit/audit-trail.js';
import type { Stage } from '../host/telemetry.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { RefusedToken } from '../refusals/oauth-refusal.js';
import { inContext, isRequestRefusal, isTokenRefusal } from '../refusals/oauth-refusal.js';
import { tokenRefusalLine } from '../refusals/refusal-line.js';
import type { Tokens } from '../verify/external-token.verifier.js';
import { personOf, recordedActors, workloadsOf } from '../verify/external-token.verifier.js';
import type { CountedRequest } from './entry-throttle.service.js';
import { EntryThrottleService } from './entry-throttle.service.js';
import type { Flow } from './flows.js';
import { FLOWS, OTHER_WORK } from './flows.js';

declare module '../../platform/http/http-messages.js' {
  interface RequestState {
    /** The flow, as soon as it is known: the token endpoint has several. */
    flow?: Flow;
  }
}

/** The parts of a request. */
type Received = Pick<FlowRequest, 'flow' | 'requestId' | 'clientAddress' | 'arrivedAtMs'> & {
  readonly leftMs: number;
  readonly state: RequestState;
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
export class FlowRequest extends ClientRequest implements CountedRequest {
  readonly flow: Flow;
  /** The time after its guards, on the monotonic clock in milliseconds. */
  readonly arrivedAtMs: number;
  /** Hits counted outside of its guard, refunded if the request fails. */
  hits: CountedRequest['hits'];
  /** Once they are verified. */
  tokens?: Tokens;
  /** Once it has authenticated. */
  client?: AuthenticatedClient;
  private readonly state: RequestState;

  constructor(
    { flow, arrivedAtMs, state, ...received }: Received,
    private readonly telemetry: ExchangeTelemetry,
  ) {
    super(received);
    this.flow = flow;
    this.arrivedAtMs = arrivedAtMs;
    this.state = state;
  }

  /** Lets other requests be processed while it waits. */
  releaseSlot(): void {
    this.state.releaseSlot?.();
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

type Failure = AuditPayloads[(typeof FLOWS)[Flow]['failureEvent']];

/** The name of the request in the metric of database refusals. */
const UNAVAILABLE = 'temporarily_unavailable';

/** Called by the controllers, because a Nest interceptor would cost every request a chain of observables. */
@Injectable()
export class FlowRunner {
  constructor(
    private readonly audit: AuditBus,
    private readonly telemetry: ExchangeTelemetry,
    private readonly throttle: EntryThrottleService,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly outages: DatabaseOutages,
    @Inject(LOGGER) private readonly logger: Log,
    private readonly counts: MemoryCounts,
  ) {}

  /** @throws what the work throws, after its failure is recorded */
  async run<T>(flow: Flow, http: HttpRequest, work: (request: FlowRequest) => Promise<T>): Promise<T> {
    const request = this.received(flow, http);
    try {
      return await work(request);
    } catch (error) {
      return await this.fail(request, inContext(error, { clientId: request.client?.id }));
    }
  }

  /** The same for other requests of clients and partners. @throws what the work throws, after a refused token is recorded */
  async runOther<T>(
    name: keyof typeof OTHER_WORK,
    http: HttpRequest,
    work: (request: ClientRequest) => Promise<T>,
  ): Promise<T> {
    const request = new ClientRequest(this.partsOf(http));
    try {
      return await work(request);
    } catch (error) {
      if (isTokenRefusal(error)) await request.inTime(() => this.recordOther(name, request, error));
      throw error;
    }
  }

  private received(flow: Flow, http: HttpRequest): FlowRequest {
    const state = stateOf(http);
    state.flow = flow;
    const arrivedAtMs = this.clock.monotonicMs();
    return new FlowRequest({ flow, arrivedAtMs, state, ...this.partsOf(http) }, this.telemetry);
  }

  /** The remaining wait excludes the time that the request's guards have waited for the database. */
  private partsOf(http: HttpRequest) {
    const leftMs = this.database.waitMs - (stateOf(http).waitedMs ?? 0);
    return { requestId: requestIdOf(http), clientAddress: clientOf(http.ip), leftMs };
  }

  /**
   * Records the true cause of a failed request. Throttled requests and broken forms leave no record, because clients could fill
   * the trail with them.
   * @throws the error
   */
  private async fail(request: FlowRequest, error: unknown): Promise<never> {
    if (error instanceof TooManyRequestsError || isRequestRefusal(error)) throw error;
    await request.inTime(async () => {
      await this.throttle.undo(request);
      if (isTokenRefusal(error)) await this.recordRefusal(request, error);
      // No fault. The filter counts it, as if a guard had thrown it.
      else if (!(error instanceof TemporarilyUnavailableException)) await this.recordFault(request, error);
    });
    throw error;
  }

  /**
   * Logs a refused token as a warning that names the cause and where to read on (D77), and records its event. Events of exchanges
   * and logins are complete (contract 6), because the limits of their addresses bound them; those of strangers' logouts are not.
   */
  private async recordRefusal(request: FlowRequest, refusal: RefusedToken): Promise<void> {
    const { flow, tokens, clientAddress } = request;
    const { reason, context, isOfStranger } = refusal;
    const { work, gives, hasActor } = FLOWS[flow];
    if (gives === 'nothing' && isOfStranger && isOverOfStrangers(this.counts, 'logouts', clientAddress))
      return this.telemetry.countUnrecordedFailure(flow, reason);
    const { issuer, kid, clientId, userId, detail, expected, found } = context;
    const party = hasActor ? context.party : undefined;
    // In the order of the log line.
    const workloads = recordedActors(refusal.workload ? [refusal.workload] : tokens && workloadsOf(tokens));
    const about = { issuer, kid, workloads, clientId, userId, detail, expected, found, clientAddress };
    const event = this.failure(request, { flow, party, reason, ...about });
    const { name, requestId, payload } = event;
    const person = refusal.person ?? personOf(tokens, context.party);
    try {
      if (person === undefined) await this.audit.record([event]);
      else await this.audit.recordRefusal(event, { isActor: context.party === 'actor', ...person });
    } catch (error) {
      if (this.outages.isUnrecorded(error)) this.telemetry.countUnrecordedFailure(flow, UNAVAILABLE);
      throw error;
    } finally {
      const line = tokenRefusalLine(work, reason, { ...context, party });
      this.logger.warn({ event: name, requestId, payload }, line);
    }
  }

  /** Strangers can cause them: log and trail have some of each address, and metrics count all (D79). */
  private async recordOther(
    name: keyof typeof OTHER_WORK,
    { requestId, clientAddress }: ClientRequest,
    { reason, context, isOfStranger }: RefusedToken,
  ): Promise<void> {
    this.telemetry.countRefusal(name, reason);
    const { work, failureEvent, isBoundOnceVerified } = OTHER_WORK[name];
    const isBounded = isBoundOnceVerified && !isOfStranger;
    if (!isBounded && isOverOfStrangers(this.counts, 'client refusals', clientAddress)) return;
    const { issuer, kid, clientId, detail, expected, found } = context;
    const payload = { issuer, kid, reason, clientId, detail, expected, found, clientAddress };
    try {
      await this.audit.record([
        auditEvent(failureEvent, { occurredAt: this.clock.now(), requestId }, payload),
      ]);
    } finally {
      this.logger.warn({ event: failureEvent, requestId, payload }, tokenRefusalLine(work, reason, context));
    }
  }

  /** The log has the fault. If the database is the cause, the trail is unreachable as well. */
  private async recordFault(request: FlowRequest, fault: unknown): Promise<void> {
    const { flow, clientAddress } = request;
    // A second attempt would wait just as long.
    if (this.outages.isUnrecorded(fault)) return this.telemetry.countUnrecordedFailure(flow, UNAVAILABLE);
    const event = this.failure(request, { flow, reason: 'internal_error', clientAddress });
    try {
      await this.audit.record([event]);
      const { name, requestId, payload } = event;
      this.logger.info({ event: name, requestId, payload }, 'audit');
    } catch {
      this.telemetry.countUnrecordedFailure(flow);
    }
  }

  private failure({ flow, requestId }: FlowRequest, failure: Failure): AuditEvent {
    return auditEvent(FLOWS[flow].failureEvent, { occurredAt: this.clock.now(), requestId }, failure);
  }
}
