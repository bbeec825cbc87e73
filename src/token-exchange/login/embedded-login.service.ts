// Embedded login: opens a session for an external token.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { RateLimited } from '../../platform/http/throttle/rate-limit.js';
import type { AuditEvent } from '../audit/audit-trail.js';
import { auditEvent } from '../audit/audit-trail.js';
import type { ProvingRequest } from '../dpop/dpop-proofs.js';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import type { DpopProof } from '../dpop/proof-checks.js';
import { EntryThrottleService } from '../endpoint/entry-throttle.service.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import type { Applied } from '../exchange/apply.service.js';
import { ApplyService } from '../exchange/apply.service.js';
import { Notices } from '../exchange/notices.js';
import type {
  BoundLogin,
  MadeSession,
  OpenedBoundSession,
  OpenedSession,
  SessionLogin,
  SessionMaker,
} from '../host/logins.js';
import { SessionOpener } from '../host/logins.js';
import type { LinkedUsers, Users } from '../identity/decide.js';
import { decideRequest, idsOf, ignoredRoleOf } from '../identity/decide.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import { UseRepository } from '../replay/use.repository.js';
import { Revocations } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { Tokens } from '../verify/external-token.verifier.js';
import {
  ExternalTokenVerifier,
  issuerAndKid,
  recordedActors,
  refuseRevokedSince,
  signerOf,
} from '../verify/external-token.verifier.js';
import { LoginRepository } from './login.repository.js';
import type { LoginSource } from './login-checks.js';
import { pageOriginOf, verifyLogin } from './login-checks.js';

/** An unchecked request for a login. */
interface AskedLogin {
  readonly token: string;
  readonly source: LoginSource;
  /** The expected local user; undefined: any user. */
  readonly expectedUserId?: string | undefined;
}

/** A login for a session in a cookie. */
export interface EmbedLogin extends AskedLogin {
  /** The `Cookie` header. Secret. */
  readonly cookies: string | undefined;
  /** Why the browser goes to `/` instead of the requested path; undefined if it does not. */
  readonly replacedRedirect?: string | undefined;
}

/** A login for a session that is bound to a key of the page. */
export interface BoundEmbedLogin extends AskedLogin {
  readonly hostOrigin: string;
  readonly proving: ProvingRequest;
  /** The session token of the session to renew; undefined: the login opens a new session. Secret. */
  readonly renewedToken: string | undefined;
}

interface ForUser extends RateLimited {
  readonly userId: string;
}

export type SignedIn = OpenedSession & ForUser;
export type BoundSignedIn = OpenedBoundSession & ForUser;

/** What the audit trail says about a session. */
type Opened = Pick<OpenedSession, 'familyId' | 'events'>;

interface Opening<Session extends Opened> {
  /** Creates the session without a transaction, if it renews no other. Undefined if every login needs a transaction. */
  readonly make: ((login: SessionDemand) => MadeSession<Session> | undefined) | undefined;
  readonly open: (transaction: Transaction, login: SessionDemand) => Promise<Session>;
}

/** What every session needs from its login. */
type SessionDemand = Omit<SessionLogin, 'cookies' | 'loginOrigin'>;

/** A login with a verified token, and its request. */
interface Login<Session extends Opened> {
  readonly asked: AskedLogin & Pick<EmbedLogin, 'replacedRedirect'>;
  readonly tokens: Tokens;
  readonly request: FlowRequest;
  readonly opening: Opening<Session>;
}

@Injectable()
export class EmbeddedLoginService {
  /** Undefined if the host has its own sessions or trail, or does not name its table of users. */
  private readonly maker: SessionMaker | undefined;

  constructor(
    readonly verifier: ExternalTokenVerifier,
    readonly revocations: Revocations,
    private readonly throttle: EntryThrottleService,
    private readonly uses: UseRepository,
    private readonly logins: LoginRepository,
    private readonly applies: ApplyService,
    private readonly sessions: SessionOpener,
    private readonly proofs: DpopProofs,
    private readonly notices: Notices,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {
    this.maker = logins.canRecord ? sessions.sessionMaker : undefined;
  }

  /** Whether the host has bound sessions. */
  get opensBound(): boolean {
    return this.sessions.openBound !== undefined;
  }

  /**
   * Signs the user of an external token in. User, session and event are written together, or none is.
   * @rule 4.1 Verify, find the user, open a session.
   * @throws OAuthRefusal with the first reason against it
   * @throws TooManyRequestsError above the limit of the entry
   */
  async login(asked: EmbedLogin, request: FlowRequest): Promise<SignedIn> {
    const tokens = await request.stage('verify', () => verifyLogin(this, asked, request));
    return this.signIn({ asked, tokens, request, opening: this.ofCookie(asked) });
  }

  /**
   * The same for a session that is bound to a key of the page and needs no cookie.
   * @throws OAuthRefusal with the first reason against it
   * @throws OAuthRefusal `dpop_nonce_required`
   * @throws TooManyRequestsError above the limit of the entry
   */
  async loginBound(asked: BoundEmbedLogin, request: FlowRequest): Promise<BoundSignedIn> {
    const tokens = await request.stage('verify', () => this.verifyBound(asked, request));
    const { thumbprint } = tokens.proof;
    return this.signIn({ asked, tokens, request, opening: this.ofKey(asked, thumbprint) });
  }

  private async verifyBound(
    asked: BoundEmbedLogin,
    request: FlowRequest,
  ): Promise<Tokens & { proof: DpopProof }> {
    const { hostOrigin, proving, renewedToken } = asked;
    const page = { ownOrigin: this.proofs.ownOrigin, hostOrigin };
    const tokens = await verifyLogin(this, { ...asked, page }, request);
    try {
      const { proof } = await this.proofs.withProof(tokens, proving, renewedToken);
      if (proof === undefined) throw new OAuthRefusal('dpop_proof_missing', issuerAndKid(tokens.subject));
      return { ...tokens, proof };
    } catch (error) {
      if (isForRepetition(error)) await this.throttle.excuse(request, tokens);
      throw error;
    }
  }

  private async signIn<Session extends Opened>(login: Login<Session>): Promise<Session & ForUser> {
    const { tokens, request } = login;
    return request.inTime(async () => {
      const rateLimit = await this.throttle.count(request, tokens);
      const linked = await request.stage('use', () => this.uses.use(tokens));
      const { users, result } = await this.complete(login, linked);
      this.notices.warnAfterCommit(request, tokens, users);
      return { rateLimit, userId: users.subject.userId, ...result };
    });
  }

  private ofCookie({ cookies, source }: EmbedLogin): Opening<OpenedSession> {
    const { maker, sessions } = this;
    const ofCookie = (demand: SessionDemand): SessionLogin => ({
      ...demand,
      cookies,
      loginOrigin: pageOriginOf(source.origin),
    });
    return {
      make: maker && ((demand) => maker.make(ofCookie(demand))),
      open: (transaction, demand) => sessions.open(transaction, ofCookie(demand)),
    };
  }

  private ofKey(
    { hostOrigin, renewedToken }: BoundEmbedLogin,
    keyThumbprint: string,
  ): Opening<OpenedBoundSession> {
    const { maker, sessions } = this;
    const ofKey = (demand: SessionDemand): BoundLogin => ({
      ...demand,
      loginOrigin: hostOrigin,
      keyThumbprint,
      renewedToken,
    });
    return {
      make: maker && ((demand) => maker.makeBound(ofKey(demand))),
      open: async (transaction, demand) => {
        const opened = await sessions.openBound?.(transaction, ofKey(demand));
        if (opened === undefined) throw new OAuthRefusal('session_ended', { userId: demand.userId });
        return opened;
      },
    };
  }

  /** Writes the login in one statement, also its new user. Applies it if it changes its user, or the statement cannot write it. */
  private async complete<Session extends Opened>(
    login: Login<Session>,
    linked: LinkedUsers,
  ): Promise<Applied<Session>> {
    const { tokens, request } = login;
    const known = decideRequest(tokens, linked, this.options.roles);
    const written = await (known === undefined
      ? this.applies.provision(tokens, linked, request, (users) => this.make(login, users))
      : this.record(login, known));
    return written ?? this.apply(login);
  }

  /** @returns undefined if the user is gone, or the login needs a transaction */
  private async record<Session extends Opened>(
    login: Login<Session>,
    users: Users,
  ): Promise<Applied<Session> | undefined> {
    const made = this.make(login, users);
    if (made === undefined) return undefined;
    const { result, session, events } = made;
    const [event] = events;
    const isUserThere = await login.request.stage('record', () => this.logins.record({ session, event }));
    return isUserThere ? { users, result } : undefined;
  }

  /** @returns undefined if the sessions are the host's, or the login carries earlier sessions */
  private make<Session extends Opened>(login: Login<Session>, users: Users) {
    const made = login.opening.make?.(this.demandOf(login, users));
    if (made === undefined) return undefined;
    const { session, opened: result } = made;
    return { result, session, events: [this.loginEvent(login, users, result)] as const };
  }

  private apply<Session extends Opened>(login: Login<Session>): Promise<Applied<Session>> {
    return this.applies.apply(login.tokens, login.request, async (transaction, users) => {
      const session = await login.opening.open(transaction, this.demandOf(login, users));
      return { result: session, events: [...session.events, this.loginEvent(login, users, session)] };
    });
  }

  /** @throws OAuthRefusal if the key was revoked or the user signed out since, or another user is expected */
  private demandOf({ asked, tokens, request }: Login<Opened>, { subject: user }: Users): SessionDemand {
    const { userId, accessGeneration } = user;
    refuseRevokedSince(this.revocations, tokens);
    // Checked before a session is opened (D51).
    if (asked.expectedUserId !== undefined && asked.expectedUserId !== userId)
      throw new OAuthRefusal('session_of_another_user', { ...issuerAndKid(tokens.subject), userId });
    return {
      userId,
      accessGeneration,
      requestId: request.requestId,
      signedBy: [signerOf(tokens.subject)],
      externalLogin: tokens.subject.login,
    };
  }

  private loginEvent(
    {
      asked: { replacedRedirect },
      tokens: { subject },
      request: { requestId, clientAddress },
    }: Login<Opened>,
    users: Users,
    { familyId: sessionFamilyId }: Opened,
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

/** Whether the page repeats the request with the answer's time or nonce. */
function isForRepetition(error: unknown): boolean {
  const reasons = ['dpop_proof_invalid', 'dpop_nonce_required'];
  return error instanceof OAuthRefusal && reasons.includes(error.reason);
}
