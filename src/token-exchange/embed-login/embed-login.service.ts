// Embedded login: an external token in, a session out.
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import { auditEvent, recordedActors } from '../audit/audit-event.js';
import { AuditBus } from '../audit/audit.bus.js';
import { ConsumptionService } from '../consumption/consumption.service.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { Sender } from '../edge/entry-throttle.service.js';
import { EntryThrottleService } from '../edge/entry-throttle.service.js';
import type { OpenedSession, SessionLogin } from '../host/session-opener.js';
import type { Settled, SettledLogin } from '../host/settlements.js';
import { SessionOpener } from '../host/session-opener.js';
import type { ResolvedUser } from '../identity/identity.service.js';
import { IdentityService } from '../identity/identity.service.js';
import type { Timed } from '../journey.js';
import { Journey, identityEvents } from '../journey.js';
import { Revocations } from '../revocation/revocations.js';
import { clientOf } from '../../platform/http/throttle/client-address.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { ExternalTokenVerifier, issuerAndKid } from '../verification/external-token.verifier.js';
import { refuseRevokedSince } from '../verification/revoked-trust.js';
import type { LoginSource } from './login-origin.js';
import { pageOriginOf } from './login-origin.js';
import { verifyLogin } from './login.judgement.js';

/** A login as it was asked for; nothing is checked yet. */
export interface EmbedLogin {
  readonly token: string;
  readonly source: LoginSource;
  readonly sender: Sender;
  /** The `Cookie` header. Secret. */
  readonly cookies: string | undefined;
  readonly requestId: string;
}

@Injectable()
export class EmbedLoginService {
  constructor(
    private readonly verifier: ExternalTokenVerifier,
    private readonly throttle: EntryThrottleService,
    private readonly revocations: Revocations,
    private readonly consumption: ConsumptionService,
    private readonly identities: IdentityService,
    private readonly sessions: SessionOpener,
    private readonly audit: AuditBus,
    private readonly journey: Journey,
  ) {}

  /**
   * Signs the user of an external token in: the user, the session and the record stand or fall together.
   * @rule 4.1 Verify, resolve the user, open a session.
   * @throws Rejection with the first reason against it
   * @throws TooManyRequestsError above the limit of the entry
   */
  login(attempt: EmbedLogin): Promise<OpenedSession & RateLimited> {
    const timed = this.journey.timer('embed');
    const arrivedAtMs = this.throttle.nowMs();
    return this.journey.audited('embed', attempt, async (inTime) => {
      const verified = await timed('verify', () => verifyLogin(this.verifier, this.revocations, attempt));
      const parties = { subject: verified };
      const arrival = { flow: 'embed', sender: attempt.sender, arrivedAtMs } as const;
      const open = async (): Promise<OpenedSession & RateLimited> => {
        const prepared = this.sessions.prepare?.(demandOf(attempt, verified));
        const login = this.loginEvent(attempt, verified, prepared?.opened);
        const settled = await timed('consume', () =>
          this.consumption.consumeLogin(verified, prepared, login),
        );
        if (prepared === undefined || !settled.isOpened)
          return this.openByItself(attempt, verified, settled, timed);
        // The record was written when the token was consumed.
        this.audit.publish([{ ...login, subjectUserId: settled.users.subjectUserId }]);
        return timed('open', () => this.handOut(verified, prepared.opened));
      };
      return inTime(() => this.throttle.counted(arrival, parties, open));
    });
  }

  /** In a transaction of its own: where the user needs a change, sessions of before are carried, or there would be too many. */
  private async openByItself(
    attempt: EmbedLogin,
    verified: VerifiedToken,
    settled: SettledLogin,
    timed: Timed,
  ): Promise<OpenedSession> {
    const { session, user } = await this.audit.commit(async (transaction) => {
      const user = await timed('resolve', () => this.resolve(transaction, verified, settled));
      refuseRevokedSince(this.revocations, verified);
      const { userId, accessGeneration } = user;
      const demand = { ...demandOf(attempt, verified), userId, accessGeneration };
      const session = await timed('open', () => this.sessions.open(transaction, demand));
      return { result: { session, user }, events: this.eventsOf(attempt, verified, user, session) };
    });
    const { requestId } = attempt;
    this.journey.warnOfIgnoredRole({ flow: 'embed', requestId }, verified, user);
    return session;
  }

  private async handOut(verified: VerifiedToken, opened: OpenedSession): Promise<OpenedSession> {
    refuseRevokedSince(this.revocations, verified);
    return opened;
  }

  private resolve(
    transaction: Transaction,
    verified: VerifiedToken,
    settled: Settled,
  ): Promise<ResolvedUser> {
    if (!settled.isSettled) return this.identities.resolve(transaction, verified);
    const { subjectUserId: userId, subjectGeneration: accessGeneration } = settled.users;
    return Promise.resolve({ userId, accessGeneration, changes: [] });
  }

  private eventsOf(
    attempt: EmbedLogin,
    verified: VerifiedToken,
    user: ResolvedUser,
    session: OpenedSession,
  ): AuditEvent[] {
    const login = { ...this.loginEvent(attempt, verified, session), subjectUserId: user.userId };
    return [...session.events, ...identityEvents(login, verified, user), login];
  }

  /** But for its user. */
  private loginEvent(
    { requestId, sender }: EmbedLogin,
    verified: VerifiedToken,
    session: OpenedSession | undefined,
  ): AuditEvent {
    const { priorActors } = verified.claims;
    return auditEvent(
      'svc.audit.token-exchange.embed-login',
      { occurredAt: this.journey.now(), requestId },
      {
        ...issuerAndKid(verified),
        clientAddress: clientOf(sender.ip),
        sessionFamilyId: session?.familyId,
        priorActors: recordedActors(priorActors),
      },
    );
  }
}

/** What is asked of sessions, whoever the user is. */
function demandOf(
  { source, cookies, requestId }: EmbedLogin,
  verified: VerifiedToken,
): Omit<SessionLogin, 'userId' | 'accessGeneration'> {
  return {
    loginOrigin: pageOriginOf(source.origin),
    cookies,
    requestId,
    vouchedBy: [issuerAndKid(verified)],
  };
}
