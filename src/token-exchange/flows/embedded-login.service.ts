// Embedded login: an external token in, a session out.
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import { auditEvent, recordedActors } from '../audit/audit-event.js';
import type { RecordedWork } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { EntryThrottleService } from './entry-throttle.service.js';
import type { OpenedSession, SessionLogin } from '../host/session-opener.js';
import { SessionOpener } from '../host/session-opener.js';
import { Clock } from '../../platform/clock.js';
import { Rejection } from '../refusals/rejection.js';
import { Revocations } from '../revocation/revocations.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import { ExternalTokenVerifier, issuerAndKid } from '../verify/external-token.verifier.js';
import { refuseRevokedSince } from '../verify/revoked-trust.js';
import type { Tokens } from '../verify/tokens.js';
import type { Committed, Users } from './commit.service.js';
import { CommitService, idsOf } from './commit.service.js';
import type { FlowRequest } from './flow-request.js';
import { Notices } from './notices.js';
import type { LoginSource } from './login-origin.js';
import { pageOriginOf } from './login-origin.js';
import { verifyLogin } from './verification.js';

/** A login as it was asked for; nothing is checked yet. */
export interface EmbedLogin {
  readonly token: string;
  readonly source: LoginSource;
  /** The `Cookie` header. Secret. */
  readonly cookies: string | undefined;
  /** The local user who has to be the token's; undefined: any user. */
  readonly expectedUserId?: string | undefined;
  /** Why the browser goes to `/` in place of where it was to go; undefined where it does not. */
  readonly replacedRedirect?: string | undefined;
}

export interface SignedIn extends OpenedSession, RateLimited {
  /** The local user. */
  readonly userId: string;
}

/** A verified login, and the request that it came by. */
interface Login extends Pick<EmbedLogin, 'expectedUserId' | 'replacedRedirect'> {
  readonly tokens: Tokens;
  readonly demand: Omit<SessionLogin, 'userId' | 'accessGeneration'>;
  readonly request: FlowRequest;
}

@Injectable()
export class EmbeddedLoginService {
  constructor(
    readonly verifier: ExternalTokenVerifier,
    readonly revocations: Revocations,
    private readonly throttle: EntryThrottleService,
    private readonly commits: CommitService,
    private readonly sessions: SessionOpener,
    private readonly notices: Notices,
    private readonly clock: Clock,
  ) {}

  /**
   * Signs the user of an external token in: the user, the session and the record stand or fall together.
   * @rule 4.1 Verify, find the user, open a session.
   * @throws Rejection with the first reason against it
   * @throws TooManyRequestsError above the limit of the entry
   */
  async login(asked: EmbedLogin, request: FlowRequest): Promise<SignedIn> {
    const tokens = await request.stage('verify', () => verifyLogin(this, asked, request));
    const rateLimit = await this.throttle.count(request, tokens);
    const { expectedUserId, replacedRedirect } = asked;
    const demand = demandOf(asked, tokens, request);
    const login = { tokens, demand, expectedUserId, replacedRedirect, request };
    const { users, result } = await request.stage('commit', () => this.commit(login));
    this.sessions.limit?.(users.subject.userId, request.requestId);
    this.notices.warnAfterCommit(request, tokens, users);
    refuseRevokedSince(this.revocations, tokens);
    return { ...result, rateLimit, userId: users.subject.userId };
  }

  private commit(login: Login): Promise<Committed<OpenedSession>> {
    // Another user is found in a transaction only, which then leaves nothing behind.
    const prepared = login.expectedUserId === undefined ? this.sessions.prepare?.(login.demand) : undefined;
    return this.commits.commit<OpenedSession>({
      request: login.request,
      tokens: login.tokens,
      success: this.loginEvent(login, prepared?.opened),
      session: prepared?.session,
      resultOf: prepared && (() => prepared.opened),
      inTransaction: (transaction, users) => this.open(login, transaction, users),
    });
  }

  /** Where the user needs a change, or sessions of before are carried. */
  private async open(
    login: Login,
    transaction: Transaction,
    users: Users,
  ): Promise<RecordedWork<OpenedSession>> {
    refuseRevokedSince(this.revocations, login.tokens);
    const { userId, accessGeneration } = users.subject;
    refuseAnotherUser(login, userId);
    const session = await this.sessions.open(transaction, { ...login.demand, userId, accessGeneration });
    return {
      result: session,
      events: [...session.events, { ...this.loginEvent(login, session), ...idsOf(users) }],
    };
  }

  /** But for its user. */
  private loginEvent(
    { tokens: { subject }, replacedRedirect, request: { requestId, clientAddress } }: Login,
    session: OpenedSession | undefined,
  ): AuditEvent {
    return auditEvent(
      'svc.audit.token-exchange.embed-login',
      { occurredAt: this.clock.now(), requestId },
      {
        ...issuerAndKid(subject),
        clientAddress,
        sessionFamilyId: session?.familyId,
        replacedRedirect,
        priorActors: recordedActors(subject.claims.priorActors),
      },
    );
  }
}

/**
 * A login that names its user is refused for the token of another one, before a session is opened (D51).
 * @throws Rejection `session_of_another_user`
 */
function refuseAnotherUser({ expectedUserId, tokens }: Login, userId: string): void {
  if (expectedUserId === undefined || expectedUserId === userId) return;
  throw new Rejection('session_of_another_user', { ...issuerAndKid(tokens.subject), userId });
}

/** The request to sessions, the same for every user. */
function demandOf(
  { source, cookies }: EmbedLogin,
  { subject }: Tokens,
  { requestId }: FlowRequest,
): Login['demand'] {
  const loginOrigin = pageOriginOf(source.origin);
  return {
    loginOrigin,
    cookies,
    requestId,
    signedBy: [issuerAndKid(subject)],
    externalLogin: subject.login,
  };
}
