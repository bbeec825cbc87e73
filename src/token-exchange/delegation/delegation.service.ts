// Token exchange: external tokens in, an access token out.
import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AuditBus } from '../../audit/audit.bus.js';
import type { AuditEvent } from '../../audit/audit-event.js';
import { auditEvent } from '../../audit/audit-event.js';
import { Clock } from '../../clock.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transaction.js';
import type { SettledUsers } from '../host.js';
import { AccessTokenIssuer, Settlements } from '../host.js';
import type { ResolvedUser } from '../identity/identity.service.js';
import { IdentityService } from '../identity/identity.service.js';
import { Journey, identityEvents } from '../journey.js';
import { JtiRepository } from '../jti.repository.js';
import type { Party } from '../rejection.js';
import { Rejection, withRejectionContext } from '../rejection.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../token-exchange.options.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { ExternalTokenVerifier, originOf } from '../verification/external-token.verifier.js';

/** A token-exchange request whose fields are checked. The tokens in it are not. */
export interface ExchangeRequest {
  readonly subjectToken: string;
  readonly actorToken?: string;
  readonly scope?: string;
  /** Target resource URIs. */
  readonly resource?: readonly string[];
  readonly requestId: string;
}

/** What a successful exchange hands out. */
export interface ExchangeResult {
  /** The compact access token. Secret. */
  readonly accessToken: string;
  readonly lifetimeSeconds: number;
}

/** Verified tokens of one request. */
interface Parties {
  readonly subject: VerifiedToken;
  readonly actor?: VerifiedToken;
}

interface ResolvedParties {
  readonly subject: ResolvedUser;
  readonly actor?: ResolvedUser;
}

/** `issuedAt` and `expiresAt` are whole seconds since the Unix epoch. */
interface Validity {
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly lifetimeSeconds: number;
}

/** What is known of an exchange before its users are. */
interface Plan {
  readonly accessTokenId: string;
  readonly request: ExchangeRequest;
  readonly parties: Parties;
  readonly validity: Validity;
}

/** An access token that is about to be issued, and what the audit trail will tell of it, but for the users. */
interface Issuance extends Plan {
  readonly success: AuditEvent;
}

const MINIMUM_LIFETIME_SECONDS = 5;

@Injectable()
export class DelegationService {
  constructor(
    private readonly verifier: ExternalTokenVerifier,
    private readonly jtis: JtiRepository,
    private readonly settlements: Settlements,
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
      const users = await this.journey.timed('exchange', 'consume', () => this.consume(issuance));
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

  /**
   * @rule 4.2.5 The life of the issued token is the shortest of both tokens' remaining lives and the configured limit.
   * @rule D13 Less than 5 seconds is refused, exactly 5 is issued; whole seconds, rounded down.
   */
  private judgeLifetime({ subject, actor }: Parties): Validity {
    const now = this.clock.nowSeconds();
    const { maxTokenLifetimeSeconds } = this.options.exchange;
    const earliestExpiry = Math.min(subject.claims.exp, actor?.claims.exp ?? Number.POSITIVE_INFINITY);
    const remaining = Math.min(earliestExpiry - now, maxTokenLifetimeSeconds);
    if (remaining < MINIMUM_LIFETIME_SECONDS) throw new Rejection('remaining_lifetime_too_short');
    const issuedAt = Math.floor(now);
    const expiresAt = Math.min(Math.floor(earliestExpiry), issuedAt + maxTokenLifetimeSeconds);
    return { issuedAt, expiresAt, lifetimeSeconds: Math.floor(remaining) };
  }

  private plan(request: ExchangeRequest, parties: Parties): Issuance {
    const plan = { accessTokenId: randomUUID(), request, parties, validity: this.judgeLifetime(parties) };
    return { ...plan, success: successOf(plan) };
  }

  /** @returns the users, where they need no change: then the exchange is in the audit trail already */
  private consume(issuance: Issuance): Promise<SettledUsers | undefined> {
    const { subject, actor } = issuance.parties;
    const uses = actor === undefined ? [subject.claims] : [subject.claims, actor.claims];
    const expected = this.identities.expectation(subject);
    const expectedActor = actor === undefined ? undefined : this.identities.expectation(actor);
    return withRejectionContext(originOf(subject), async () => {
      if (expected !== undefined && (actor === undefined) === (expectedActor === undefined)) {
        const events = [issuance.success];
        return this.settlements.settle({ uses, subject: expected, actor: expectedActor, events });
      }
      await this.jtis.consume(uses);
      return undefined;
    });
  }

  /** The audit rows are written with the consumption of the jtis. */
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

  /**
   * @rule 4.2.2 Without an actor the token is the subject's alone.
   * @rule 4.2.3 With an actor the token names both, and so do the audit records.
   */
  private async issue(
    { accessTokenId, request, parties, validity }: Issuance,
    users: SettledUsers,
  ): Promise<ExchangeResult> {
    const { issuedAt, expiresAt, lifetimeSeconds } = validity;
    const { token } = await this.accessTokens.issue({
      id: accessTokenId,
      ...users,
      clientId: parties.subject.key.policy.issuer,
      ...recordedOf(request),
      issuedAt,
      expiresAt,
    });
    return { accessToken: token, lifetimeSeconds };
  }
}

/** What a request asks to have recorded. */
function recordedOf({ scope, resource }: ExchangeRequest) {
  return { ...(scope === undefined ? {} : { scope }), ...(resource === undefined ? {} : { resource }) };
}

/** Without the users, whom the statement that writes it finds itself. */
function successOf({ accessTokenId, request, parties, validity }: Plan): AuditEvent {
  const { policy, kid } = parties.subject.key;
  const { lifetimeSeconds } = validity;
  return auditEvent(
    'svc.audit.token-exchange.succeeded',
    { requestId: request.requestId },
    { issuer: policy.issuer, kid, accessTokenId, lifetimeSeconds, ...recordedOf(request) },
  );
}

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
