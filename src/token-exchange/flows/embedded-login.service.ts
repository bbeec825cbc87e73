// Embedded login: takes an external token, and opens a session.
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit.bus.js';
import { auditEvent } from '../audit/audit.bus.js';
import { Clock } from '../../platform/clock.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import type { OpenedSession, SessionLogin } from '../host/logins.js';
import { SessionOpener } from '../host/logins.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import { Revocations } from '../revocation/revocations.js';
import { SessionService } from '../sessions/session.service.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { Users } from '../users/decide.js';
import { decideRequest, idsOf, ignoredRoleOf } from '../users/decide.js';
import { ExternalTokenVerifier, issuerAndKid, signerOf } from '../verify/external-token.verifier.js';
import { recordedActors, refuseRevokedSince } from '../verify/tokens.js';
import type { Tokens } from '../verify/tokens.js';
import type { Applied } from './apply.service.js';
import { ApplyService } from './apply.service.js';
import { EntryThrottleService } from './entry-throttle.service.js';
import type { FlowRequest } from './flow-request.js';
import type { LoginSource } from './verification.js';
import { pageOriginOf, verifyLogin } from './verification.js';
import { LoginRepository } from './login.repository.js';
import { Notices } from './notices.js';
import { UseRepository } from './use.repository.js';

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

/** A login whose token is verified, and the request that it came by. */
interface Login {
  readonly asked: EmbedLogin;
  readonly tokens: Tokens;
  readonly request: FlowRequest;
}

@Injectable()
export class EmbeddedLoginService {
  constructor(
    readonly verifier: ExternalTokenVerifier,
    readonly revocations: Revocations,
    private readonly throttle: EntryThrottleService,
    private readonly uses: UseRepository,
    private readonly logins: LoginRepository,
    private readonly applies: ApplyService,
    private readonly sessions: SessionOpener,
    private readonly notices: Notices,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {}

  /**
   * Signs the user of an external token in: the user, the session and the record stand or fall together.
   * @rule 4.1 Verify, find the user, open a session.
   * @throws OAuthRefusal with the first reason against it
   * @throws TooManyRequestsError above the limit of the entry
   */
  async login(asked: EmbedLogin, request: FlowRequest): Promise<SignedIn> {
    const tokens = await request.stage('verify', () => verifyLogin(this, asked, request));
    const login = { asked, tokens, request };
    return request.inTime(async () => {
      const rateLimit = await this.throttle.count(request, tokens);
      const linked = await request.stage('use', () => this.uses.use(tokens));
      const known = decideRequest(tokens, linked, this.options.roles);
      const recorded = known && (await this.record(login, known));
      const { users, result } = recorded ?? (await this.apply(login));
      this.notices.warnAfterCommit(request, tokens, users);
      return { rateLimit, userId: users.subject.userId, ...result };
    });
  }

  /** Undefined where sessions of before are carried, the user was deleted meanwhile, or the host has sessions of its own. */
  private async record(login: Login, users: Users): Promise<Applied<OpenedSession> | undefined> {
    const demand = this.demandOf(login, users);
    const made = this.sessions instanceof SessionService ? this.sessions.make(demand) : undefined;
    if (made === undefined) return undefined;
    const { session, opened } = made;
    const event = this.loginEvent(login, users, opened);
    const isWritten = await login.request.stage('record', () => this.logins.record({ session, event }));
    return isWritten ? { users, result: opened } : undefined;
  }

  private apply(login: Login): Promise<Applied<OpenedSession>> {
    return this.applies.apply(login.tokens, login.request, async (transaction, users) => {
      const session = await this.sessions.open(transaction, this.demandOf(login, users));
      return { result: session, events: [...session.events, this.loginEvent(login, users, session)] };
    });
  }

  /** @throws OAuthRefusal where the key was revoked or the user signed out since, or another user is to sign in */
  private demandOf({ asked, tokens, request }: Login, { subject: user }: Users): SessionLogin {
    const { userId, accessGeneration } = user;
    refuseRevokedSince(this.revocations, tokens);
    // Before a session is opened (D51).
    if (asked.expectedUserId !== undefined && asked.expectedUserId !== userId)
      throw new OAuthRefusal('session_of_another_user', { ...issuerAndKid(tokens.subject), userId });
    return {
      userId,
      accessGeneration,
      loginOrigin: pageOriginOf(asked.source.origin),
      cookies: asked.cookies,
      requestId: request.requestId,
      signedBy: [signerOf(tokens.subject)],
      externalLogin: tokens.subject.login,
    };
  }

  private loginEvent(
    { asked: { replacedRedirect }, tokens: { subject }, request: { requestId, clientAddress } }: Login,
    users: Users,
    { familyId: sessionFamilyId }: OpenedSession,
  ): AuditEvent {
    const { issuer, kid } = issuerAndKid(subject);
    return auditEvent(
      'svc.audit.token-exchange.embed-login',
      { occurredAt: this.clock.now(), requestId, ...idsOf(users) },
      {
        issuer,
        kid,
        clientAddress,
        sessionFamilyId,
        replacedRedirect,
        ...ignoredRoleOf(users),
        priorActors: recordedActors(subject.claims.priorActors),
      },
    );
  }
}
