// Embedded login: an external token in, a session out.
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import { auditEvent, recordedActors } from '../audit/audit-event.js';
import type { ToldWork } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { Sender } from '../edge/entry-throttle.service.js';
import { EntryThrottleService } from '../edge/entry-throttle.service.js';
import type { OpenedSession, SessionLogin } from '../host/session-opener.js';
import { SessionOpener } from '../host/session-opener.js';
import { Journey } from '../journey.js';
import { Revocations } from '../revocation/revocations.js';
import { clientOf } from '../../platform/http/throttle/client-address.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import { ExternalTokenVerifier, issuerAndKid } from '../verification/external-token.verifier.js';
import { refuseRevokedSince } from '../verification/revoked-trust.js';
import type { Tokens } from '../verification/tokens.js';
import type { Users } from './commit.service.js';
import { CommitService, idsOf } from './commit.service.js';
import type { LoginSource } from './login-origin.js';
import { pageOriginOf } from './login-origin.js';
import { verifyLogin } from './verification.js';

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
export class EmbeddedLoginService {
  constructor(
    readonly verifier: ExternalTokenVerifier,
    private readonly throttle: EntryThrottleService,
    readonly revocations: Revocations,
    private readonly commits: CommitService,
    private readonly sessions: SessionOpener,
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
      const tokens = await timed('verify', () => verifyLogin(this, attempt));
      const arrival = { flow: 'embed', sender: attempt.sender, arrivedAtMs } as const;
      const open = (): Promise<OpenedSession & RateLimited> =>
        timed('commit', () => this.commit(attempt, tokens));
      return inTime(() => this.throttle.counted(arrival, tokens, open));
    });
  }

  private async commit(attempt: EmbedLogin, tokens: Tokens): Promise<OpenedSession> {
    const { requestId } = attempt;
    const prepared = this.sessions.prepare?.(demandOf(attempt, tokens));
    const { users, result } = await this.commits.commit<OpenedSession>({
      tokens,
      success: this.loginEvent(attempt, tokens, prepared?.opened),
      session: prepared?.session,
      resultOf: prepared && (() => prepared.opened),
      inTransaction: (transaction, resolved) => this.open(attempt, tokens, { transaction, users: resolved }),
    });
    this.sessions.limit?.(users.subject.userId, requestId);
    this.journey.warnOfIgnoredRoles('embed', requestId, tokens, users);
    refuseRevokedSince(this.revocations, tokens);
    return result;
  }

  /** Where the user needs a change, or sessions of before are carried. */
  private async open(
    attempt: EmbedLogin,
    tokens: Tokens,
    { transaction, users }: { readonly transaction: Transaction; readonly users: Users },
  ): Promise<ToldWork<OpenedSession>> {
    refuseRevokedSince(this.revocations, tokens);
    const { userId, accessGeneration } = users.subject;
    const demand = { ...demandOf(attempt, tokens), userId, accessGeneration };
    const session = await this.sessions.open(transaction, demand);
    const login = { ...this.loginEvent(attempt, tokens, session), ...idsOf(users) };
    return { result: session, events: [...session.events, login] };
  }

  /** But for its user. */
  private loginEvent(
    { requestId, sender }: EmbedLogin,
    { subject }: Tokens,
    session: OpenedSession | undefined,
  ): AuditEvent {
    return auditEvent(
      'svc.audit.token-exchange.embed-login',
      { occurredAt: this.journey.now(), requestId },
      {
        ...issuerAndKid(subject),
        clientAddress: clientOf(sender.ip),
        sessionFamilyId: session?.familyId,
        priorActors: recordedActors(subject.claims.priorActors),
      },
    );
  }
}

/** What is asked of sessions, whoever the user is. */
function demandOf(
  { source, cookies, requestId }: EmbedLogin,
  { subject }: Tokens,
): Omit<SessionLogin, 'userId' | 'accessGeneration'> {
  return {
    loginOrigin: pageOriginOf(source.origin),
    cookies,
    requestId,
    vouchedBy: [issuerAndKid(subject)],
  };
}
