// Token exchange: external tokens in, an access token out.
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../audit/audit-event.js';
import { AuditBus } from '../../audit/audit.bus.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transaction.js';
import { Clock } from '../../foundation/clock.js';
import type { Parties } from '../consumption/consumption.service.js';
import { ConsumptionService } from '../consumption/consumption.service.js';
import type { SettledUsers } from '../host.js';
import { AccessTokenIssuer } from '../host.js';
import type { ResolvedUser } from '../identity/identity.service.js';
import { IdentityService } from '../identity/identity.service.js';
import { Journey, identityEvents } from '../journey.js';
import type { Party } from '../rejection.js';
import { Rejection, withRejectionContext } from '../rejection.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../token-exchange.options.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { ExternalTokenVerifier, originOf } from '../verification/external-token.verifier.js';
import type { ExchangeRequest, Issuance } from './issuance.js';
import { grantOf, planIssuance } from './issuance.js';

/** What a successful exchange hands out. */
export interface ExchangeResult {
  /** The compact access token. Secret. */
  readonly accessToken: string;
  readonly lifetimeSeconds: number;
}

interface ResolvedParties {
  readonly subject: ResolvedUser;
  readonly actor?: ResolvedUser;
}

@Injectable()
export class DelegationService {
  constructor(
    private readonly verifier: ExternalTokenVerifier,
    private readonly consumption: ConsumptionService,
    private readonly identities: IdentityService,
    private readonly accessTokens: AccessTokenIssuer,
    private readonly transactions: Transactions,
    private readonly audit: AuditBus,
    private readonly journey: Journey,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'exchange'>,
  ) {}

  /**
   * Exchanges a subject token, and an actor token where there is one, for an access token.
   * @throws Rejection with the first reason against it
   */
  exchange(request: ExchangeRequest): Promise<ExchangeResult> {
    return this.journey.audited('exchange', request.requestId, async () => {
      const parties = await this.journey.timed('exchange', 'verify', () => this.verify(request));
      const issuance = this.plan(request, parties);
      const users = await this.journey.timed('exchange', 'consume', () =>
        this.consumption.consume(parties, [issuance.success]),
      );
      return this.journey.timed('exchange', 'resolve', () =>
        users === undefined ? this.resolveAndIssue(issuance) : this.issueToSettled(issuance, users),
      );
    });
  }

  private async verify({ subjectToken, actorToken }: ExchangeRequest): Promise<Parties> {
    const verifyParty = (party: Party, token: string) =>
      withRejectionContext({ party }, () => this.verifier.verify(token, 'exchange'));
    const subject = await verifyParty('subject', subjectToken);
    if (actorToken === undefined) return { subject };
    const actor = await verifyParty('actor', actorToken);
    judgeMayAct(subject, actor);
    return { subject, actor };
  }

  private plan(request: ExchangeRequest, parties: Parties): Issuance {
    const { maxTokenLifetimeSeconds } = this.options.exchange;
    return planIssuance(request, parties, { now: this.clock.nowSeconds(), maxTokenLifetimeSeconds });
  }

  /** The audit row was written when the tokens were used up. */
  private async issueToSettled(issuance: Issuance, users: SettledUsers): Promise<ExchangeResult> {
    const result = await this.issue(issuance, users);
    this.audit.publish([{ ...issuance.success, ...users }]);
    return result;
  }

  /** Both users, the token and the audit rows stand or fall together. */
  private async resolveAndIssue(issuance: Issuance): Promise<ExchangeResult> {
    const { result, events } = await this.transactions.run(async (transaction) => {
      const { subject, actor } = await this.resolve(transaction, issuance.parties);
      const users = {
        subjectUserId: subject.userId,
        ...(actor === undefined ? {} : { actorUserId: actor.userId }),
      };
      const told = [...changesOf(issuance, users, subject, actor), { ...issuance.success, ...users }];
      const issued = await this.issue(issuance, users);
      await this.audit.record(transaction, told);
      return { result: issued, events: told };
    });
    this.audit.publish(events);
    return result;
  }

  /**
   * Always the identity that sorts first is resolved first: two exchanges whose parties act for each other then wait for
   * one another's rows in one order, instead of in a circle.
   */
  private async resolve(transaction: Transaction, { subject, actor }: Parties): Promise<ResolvedParties> {
    const resolveParty = (party: Party, token: VerifiedToken) =>
      withRejectionContext({ party }, () => this.identities.resolve(transaction, token));
    if (actor === undefined) return { subject: await resolveParty('subject', subject) };
    if (sortKeyOf(subject) <= sortKeyOf(actor)) {
      return { subject: await resolveParty('subject', subject), actor: await resolveParty('actor', actor) };
    }
    const resolvedActor = await resolveParty('actor', actor);
    return { subject: await resolveParty('subject', subject), actor: resolvedActor };
  }

  private async issue(issuance: Issuance, users: SettledUsers): Promise<ExchangeResult> {
    const { token } = await this.accessTokens.issue(grantOf(issuance, users));
    return { accessToken: token, lifetimeSeconds: issuance.validity.lifetimeSeconds };
  }
}

/** The audit events of what resolving the users changed. */
function changesOf(
  { request, parties }: Issuance,
  users: SettledUsers,
  subject: ResolvedUser,
  actor: ResolvedUser | undefined,
): AuditEvent[] {
  const context = { requestId: request.requestId, ...users };
  return [
    ...identityEvents(context, parties.subject, subject),
    ...(parties.actor && actor ? identityEvents(context, parties.actor, actor) : []),
  ];
}

/** @rule P.mayAct Where a subject token names who may act for it, no other actor is taken (RFC 8693 §4.4). */
function judgeMayAct({ claims: { iss, mayAct } }: VerifiedToken, actor: VerifiedToken): void {
  if (mayAct === undefined) return;
  const isNamed = mayAct.sub === actor.claims.sub && (mayAct.iss ?? iss) === actor.claims.iss;
  if (!isNamed) throw new Rejection('actor_not_allowed', { party: 'actor', ...originOf(actor) });
}

function sortKeyOf({ claims: { iss, sub } }: VerifiedToken): string {
  return JSON.stringify([iss, sub]);
}
