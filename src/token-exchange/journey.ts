// The part of a token's journey that both flows share: timing of its stages, and the audit events of its end.
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent, AuditPayloads } from './audit/audit-event.js';
import { auditEvent } from './audit/audit-event.js';
import { AuditBus } from './audit/audit.bus.js';
import { Database } from '../platform/database/database.js';
import { withinWait } from '../platform/database/wait-limit.js';
import { Clock } from '../platform/clock.js';
import type { Sender } from './edge/entry-throttle.service.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import type { Flow } from './flow.js';
import type { Stage } from './host/telemetry.js';
import { ExchangeTelemetry } from './host/telemetry.js';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import { waitedMs } from '../platform/http/request-wait.js';
import type { NoticeKind } from './refusals.js';
import { noticeLine, rejectionLine } from './refusal-line.js';
import type { Party, RejectionContext } from './rejection.js';
import { Rejection } from './rejection.js';
import { clientOf } from '../platform/http/throttle/client-address.js';
import { TooManyRequestsError } from '../platform/http/throttle/too-many-requests.error.js';
import type { VerifiedToken } from './verification/external-token.verifier.js';
import { issuerAndKid } from './verification/external-token.verifier.js';
import type { ResolvedUser } from './users/apply.js';
import type { PerToken, Tokens } from './verification/tokens.js';

/** How the log calls what was refused. */
const WORK = { exchange: 'a token exchange', embed: 'an embedded login' } as const;

/** How metrics call what the database could not serve. */
const UNAVAILABLE = 'temporarily_unavailable';

const FAILURE_EVENTS = {
  exchange: 'svc.audit.token-exchange.failed',
  embed: 'svc.audit.token-exchange.embed-login-failed',
} as const;

/** Runs what asks the database, all of it within the limit of a request; fetches of keys lie outside of it. */
export type InTime = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs a stage of a flow. */
export type Timed = <T>(stage: Stage, work: () => Promise<T>) => Promise<T>;

type FailureEvent = (typeof FAILURE_EVENTS)[Flow];

/** A request as far as the trail tells of it, whatever becomes of it. */
interface SentRequest {
  readonly requestId: string;
  readonly sender: Sender;
}

/** A request of which something did not count, and the values of it. */
interface Notice extends RejectionContext {
  readonly flow: Flow;
  readonly requestId: string;
  /** How the log calls the entry of its key. */
  readonly entry?: string;
}

/** A token whose success is recorded, and which could not be signed: the trail must not stop at the success. */
export class UnissuedTokenError extends Error {
  constructor(accessTokenId: string, cause: unknown) {
    super(`the access token ${accessTokenId} was recorded and could not be signed`, { cause });
  }
}

@Injectable()
export class Journey {
  constructor(
    private readonly audit: AuditBus,
    private readonly telemetry: ExchangeTelemetry,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    private readonly database: Database,
    private readonly outages: DatabaseOutages,
  ) {}

  /** Makes the function that runs a stage of a flow and observes how long it took, also when it failed. */
  timer(flow: Flow): Timed {
    return async (stage, work) => {
      const startedAt = performance.now();
      try {
        return await this.telemetry.traced({ name: stage, flow }, work);
      } finally {
        this.telemetry.observeStage(flow, stage, (performance.now() - startedAt) / 1000);
      }
    };
  }

  now(): Date {
    return this.clock.now();
  }

  /** What its guards have taken so far counts. */
  private waiterOf(sender: Sender): InTime {
    let leftMs = this.database.waitMs - (waitedMs(sender) ?? 0);
    return async (work) => {
      const beganAtMs = performance.now();
      try {
        return await withinWait(leftMs, work);
      } finally {
        leftMs -= performance.now() - beganAtMs;
      }
    };
  }

  /**
   * Runs a flow; what ends it is written to the audit trail with its true cause, then thrown on. Whoever is over a limit
   * leaves no record, or could fill the trail.
   */
  async audited<T>(flow: Flow, request: SentRequest, work: (inTime: InTime) => Promise<T>): Promise<T> {
    const inTime = this.waiterOf(request.sender);
    try {
      return await work(inTime);
    } catch (error) {
      if (error instanceof TooManyRequestsError) throw error;
      if (error instanceof Rejection) await inTime(() => this.tellFailure(flow, request, error));
      else await inTime(() => this.tellFault(flow, request, error));
      throw error;
    }
  }

  /** Logged after the commit, because a transaction may be retried or fail. */
  warnOfIgnoredRoles(flow: Flow, requestId: string, tokens: Tokens, users: PerToken<ResolvedUser>): void {
    const warn = (token: VerifiedToken, { userId, ignoredRole }: ResolvedUser, party?: Party) => {
      if (ignoredRole === undefined) return;
      const entry = token.key.policy.label;
      const values = { ...issuerAndKid(token), entry, userId, ...ignoredRole };
      this.warn('role_ignored', { flow, requestId, party: flow === 'embed' ? undefined : party, ...values });
    };
    warn(tokens.subject, users.subject, 'subject');
    if (tokens.actor !== undefined && users.actor !== undefined) warn(tokens.actor, users.actor, 'actor');
  }

  /** Warns of a request that goes on, though not all of it counts. */
  warn(kind: NoticeKind, { flow, requestId, ...values }: Notice): void {
    this.logger.warn({ requestId, flow, reason: kind, ...values }, noticeLine(kind, values));
  }

  /** @rule D52 A refused token is a warning of the log, whose sentence names the cause and where to read on. */
  private async tellFailure(flow: Flow, request: SentRequest, { reason, context }: Rejection): Promise<void> {
    const { issuer, kid, userId, detail, expected, found } = context;
    // At an embedded login there is one token only.
    const party = flow === 'embed' ? undefined : context.party;
    const refusal = { flow, party, reason, issuer, kid, userId, detail, expected, found };
    const event = this.failure(flow, request, refusal);
    const { name, requestId, payload } = event;
    try {
      await this.audit.tell([event]);
    } catch (error) {
      if (this.outages.isUnrecorded(error)) this.telemetry.countUnrecordedFailure(flow, UNAVAILABLE);
      throw error;
    } finally {
      this.logger.warn(
        { event: name, requestId, payload },
        rejectionLine(WORK[flow], reason, { ...context, party }),
      );
    }
  }

  /** What the fault was stands in the log. The database may be the cause, so the trail may be out of reach as well. */
  private async tellFault(flow: Flow, request: SentRequest, fault: unknown): Promise<void> {
    // A second attempt would wait as long as the first.
    if (this.outages.isUnrecorded(fault)) return this.telemetry.countUnrecordedFailure(flow, UNAVAILABLE);
    const detail = fault instanceof UnissuedTokenError ? { detail: fault.message } : {};
    const event = this.failure(flow, request, { flow, reason: 'internal_error', ...detail });
    try {
      await this.audit.tell([event]);
      const { name, requestId, payload } = event;
      this.logger.info({ event: name, requestId, payload }, 'audit');
    } catch {
      this.telemetry.countUnrecordedFailure(flow);
    }
  }

  private failure(
    flow: Flow,
    { requestId, sender }: SentRequest,
    refusal: AuditPayloads[FailureEvent],
  ): AuditEvent {
    const payload = { ...refusal, clientAddress: clientOf(sender.ip) };
    return auditEvent(FAILURE_EVENTS[flow], { occurredAt: this.clock.now(), requestId }, payload);
  }
}
