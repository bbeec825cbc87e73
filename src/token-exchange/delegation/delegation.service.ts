// Token exchange: external tokens in, an access token out.
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import { AuditBus } from '../audit/audit.bus.js';
import type { Parties } from '../consumption/consumption.service.js';
import { ConsumptionService } from '../consumption/consumption.service.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { EntryThrottleService } from '../edge/entry-throttle.service.js';
import type { Settled, SettledUsers } from '../host/settlements.js';
import type { ResolvedUser } from '../identity/identity.service.js';
import { IdentityService } from '../identity/identity.service.js';
import { Journey, UnissuedTokenError, identityEvents } from '../journey.js';
import { withRejectionContext } from '../rejection.js';
import { Revocations } from '../revocation/revocations.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import { ExternalTokenVerifier, issuerAndKid } from '../verification/external-token.verifier.js';
import { refuseRevokedSince, refuseRevokedTrust } from '../verification/revoked-trust.js';
import { judgeRevocation, verifyParties } from './exchange.judgement.js';
import type { Resolved } from './resolving-order.js';
import { resolveInOrder } from './resolving-order.js';
import type { ExchangeRequest, Issuance } from './issuance.planner.js';
import { IssuancePlanner, grantOf } from './issuance.planner.js';

/** What a successful exchange hands out. */
export interface ExchangeResult extends RateLimited {
  /** The compact access token. Secret. */
  readonly accessToken: string;
  readonly lifetimeSeconds: number;
  /** What is granted, where the entries limit it. */
  readonly grantedScopes?: readonly string[];
}

@Injectable()
export class DelegationService {
  constructor(
    private readonly verifier: ExternalTokenVerifier,
    private readonly throttle: EntryThrottleService,
    private readonly revocations: Revocations,
    private readonly issuances: IssuancePlanner,
    private readonly consumption: ConsumptionService,
    private readonly identities: IdentityService,
    private readonly audit: AuditBus,
    private readonly journey: Journey,
  ) {}

  /**
   * Exchanges a subject token, and an actor token where there is one, for an access token.
   * @throws Rejection with the first reason against it
   * @throws TooManyRequestsError above the limit of an entry
   */
  exchange(request: ExchangeRequest): Promise<ExchangeResult> {
    const timed = this.journey.timer('exchange');
    const arrivedAtMs = this.throttle.nowMs();
    return this.journey.audited('exchange', request, async (inTime) => {
      const parties = await timed('verify', () => verifyParties(this.verifier, request));
      judgeRevocation(this.revocations, parties, refuseRevokedTrust);
      const issuance = await withRejectionContext(issuerAndKid(parties.subject), () =>
        this.issuances.plan(request, parties),
      );
      const arrival = { flow: 'exchange', sender: request.sender, arrivedAtMs } as const;
      const settle = async () => {
        const settled = await timed('consume', () => this.consumption.consume(parties, [issuance.success]));
        const users = await timed('resolve', () => this.resolve(issuance, settled));
        judgeRevocation(this.revocations, parties, refuseRevokedSince);
        return timed('issue', () => issue(issuance, users));
      };
      return inTime(() => this.throttle.counted(arrival, parties, settle));
    });
  }

  /** Users who are not settled are resolved in one transaction with the record of it. */
  private async resolve(issuance: Issuance, settled: Settled): Promise<SettledUsers> {
    if (settled.isSettled) {
      // The record was written when the tokens were consumed.
      this.audit.publish([{ ...issuance.success, ...idsOf(settled.users) }]);
      return settled.users;
    }
    const provisioned = await this.provision(issuance);
    if (provisioned !== undefined) return provisioned;
    const resolved = await this.audit.commit(async (transaction) => {
      const result = await this.resolveParties(transaction, issuance.parties);
      const success = { ...issuance.success, ...idsOf(usersOf(result)) };
      return { result, events: [...changesOf(issuance, result), success] };
    });
    this.warnOfIgnoredRoles(issuance, resolved);
    return usersOf(resolved);
  }

  /** A subject who comes alone for the first time. */
  private async provision({ parties, success }: Issuance): Promise<SettledUsers | undefined> {
    const { subject, actor } = parties;
    if (actor !== undefined) return undefined;
    const made = await this.consumption.provision(subject, (resolved) => {
      const told = { ...success, subjectUserId: resolved.userId };
      const [change = told] = identityEvents(told, subject, resolved);
      return [change, told];
    });
    if (made === undefined) return undefined;
    this.audit.publish(made.events);
    return { subjectUserId: made.userId, subjectGeneration: made.accessGeneration };
  }

  private warnOfIgnoredRoles(
    { parties, success }: Issuance,
    { subject, actor }: Resolved<ResolvedUser>,
  ): void {
    const told = { flow: 'exchange', requestId: success.requestId } as const;
    this.journey.warnOfIgnoredRole({ ...told, party: 'subject' }, parties.subject, subject);
    if (parties.actor !== undefined && actor !== undefined)
      this.journey.warnOfIgnoredRole({ ...told, party: 'actor' }, parties.actor, actor);
  }

  private resolveParties(transaction: Transaction, parties: Parties): Promise<Resolved<ResolvedUser>> {
    return resolveInOrder(parties, (party, token) =>
      withRejectionContext({ party }, () => this.identities.resolve(transaction, token)),
    );
  }
}

/** @throws UnissuedTokenError where a token that is recorded cannot be signed */
async function issue(issuance: Issuance, users: SettledUsers): Promise<ExchangeResult> {
  const { accessTokenId, validity, grants, sign } = issuance;
  const { lifetimeSeconds } = validity;
  const { grantedScopes } = grants;
  try {
    return { accessToken: sign(grantOf(issuance, users)).token, lifetimeSeconds, grantedScopes };
  } catch (error) {
    throw new UnissuedTokenError(accessTokenId, error);
  }
}

function usersOf({ subject, actor }: Resolved<ResolvedUser>): SettledUsers {
  return {
    subjectUserId: subject.userId,
    actorUserId: actor?.userId,
    subjectGeneration: subject.accessGeneration,
    actorGeneration: actor?.accessGeneration,
  };
}

/** What the trail is told of them. */
function idsOf({ subjectUserId, actorUserId }: SettledUsers): SettledUsers {
  return { subjectUserId, actorUserId };
}

/** The audit events of what resolving the users changed. */
function changesOf({ success, parties }: Issuance, resolved: Resolved<ResolvedUser>): AuditEvent[] {
  const { occurredAt, requestId } = success;
  const context = { occurredAt, requestId, ...idsOf(usersOf(resolved)) };
  return [
    ...identityEvents(context, parties.subject, resolved.subject),
    ...(parties.actor && resolved.actor ? identityEvents(context, parties.actor, resolved.actor) : []),
  ];
}
