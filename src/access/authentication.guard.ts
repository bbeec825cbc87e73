// Chooses between the credentials of a request, access token or session, and admits the request if that one
// is valid.
import type { CallHandler, CanActivate, ExecutionContext, NestInterceptor } from '@nestjs/common';
import {
  ConflictException,
  createParamDecorator,
  ForbiddenException,
  Inject,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { from, lastValueFrom } from 'rxjs';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Database } from '../platform/database/database.js';
import { withinWait } from '../platform/database/wait-limit.js';
import { stateOf } from '../platform/http/http-messages.js';
import type { BearerReason, PresentedCall } from '../token-exchange/instance.js';
import {
  challengeTo,
  DpopProofs,
  errorOf,
  isAboutProof,
  isSessionToken,
  isSupportedScheme,
  presentedCallOf,
  readSessionCookies,
  SessionService,
} from '../token-exchange/instance.js';
import type { BearerVerdict, Principal } from './authentication.service.js';
import { AuthenticationService } from './authentication.service.js';
import { BearerRefusalRecorder } from './bearer-refusal.recorder.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the AuthenticationGuard. */
    principal?: Principal;
    /** The scope that an access token needs here, for the challenge of every 401. */
    neededScope?: string;
  }
}

/** Another scheme, or a token with characters that are not allowed in tokens. */
const NO_ACCESS_TOKEN = { refusal: { reason: 'malformed' } } as const satisfies BearerVerdict;
const NO_CREDENTIAL = 'Sign in, or send an access token';
/** The scope that an access token needs at a route; undefined if it needs none. */
export const RouteScope = Reflector.createDecorator<string>();
/** All other methods may change something. */
export const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** The id of the user whom the sending page shows, from `/rest/me`: neither secret nor proof. */
const SESSION_USER = 'x-session-user';

/** Passes a controller the principal that the AuthenticationGuard has set. Use it only behind that guard. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === undefined)
    throw new Error('a route asks for the principal without the AuthenticationGuard');
  return principal;
});

interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The scope that a token needs; undefined: none, or tokens are not accepted. */
  readonly scope: string | undefined;
}

@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly authentication: AuthenticationService,
    private readonly sessions: SessionService,
    private readonly proofs: DpopProofs,
    private readonly refusals: BearerRefusalRecorder,
    @Inject(STARTUP) private readonly startup: Startup,
    private readonly database: Database,
    private readonly reflector: Reflector,
  ) {}

  /**
   * @rule 4.3 Access tokens are sent as `Authorization: Bearer`, bound ones as `DPoP`. See
   * access-token.service.ts for their expiry.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    // WaitLimitInterceptor counts from here.
    stateOf(request).beginWait();
    const reply = http.getResponse<FastifyReply>();
    const scope: string | undefined = this.reflector.get(RouteScope, context.getHandler());
    request.neededScope = scope;
    request.principal = await withinWait(this.database.waitMs, () =>
      this.principalOf({ request, reply, scope }),
    );
    return true;
  }

  /**
   * If `Authorization` is present, it alone decides: a request never falls back to another identity (D41).
   */
  private async principalOf(call: Call): Promise<Principal> {
    const { request } = call;
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.byAuthorization(authorization, call);
    const sessionIds = readSessionCookies(request.headers.cookie);
    const principal = await this.authentication.bySession(sessionIds);
    if (principal === undefined) throw await this.withoutSession('cookie', sessionIds, call);
    refuseOtherUser(request, principal);
    this.refuseForgery(request);
    return principal;
  }

  private async byAuthorization(authorization: string, call: Call): Promise<Principal> {
    const presented = presentedCallOf(call.request);
    const verdict = presented === undefined ? NO_ACCESS_TOKEN : await this.verdictOn(presented, call);
    const nonce = presented?.isDpop === true ? this.proofs.nonce() : undefined;
    if (nonce !== undefined) void call.reply.header('dpop-nonce', nonce);
    if ('principal' in verdict) return verdict.principal;
    const { id: requestId, ip, method, routeOptions } = call.request;
    await this.refusals.record(verdict.refusal, { requestId, ip, method, route: routeOptions.url ?? '' });
    const message = 'The access token is invalid or has expired';
    const { reason } = verdict.refusal;
    const error = errorOf(authorization, reason);
    const text = isSupportedScheme(authorization) ? message : NO_CREDENTIAL;
    throw this.unauthenticated(call, text, { error, reason });
  }

  /**
   * @throws UnauthorizedException if a bound session has ended. This is not a refused credential, so no event records it
   */
  private async verdictOn(presented: PresentedCall, call: Call): Promise<BearerVerdict> {
    if (!isSessionToken(presented.token)) return this.authentication.byAccessToken(presented);
    const verdict = await this.authentication.byBoundSession(presented);
    if (verdict === undefined) throw await this.withoutSession('bound', [presented.token], call);
    return verdict;
  }

  /**
   * The 401 without a session. It tells the page in the frame and its host page who has ended the session.
   */
  private async withoutSession(
    kind: 'cookie' | 'bound',
    ids: readonly string[],
    call: Call,
  ): Promise<UnauthorizedException> {
    const isSignedOut = await this.sessions.wasSignedOutByProvider(kind, ids);
    if (!isSignedOut) return this.unauthenticated(call, NO_CREDENTIAL);
    const message = 'The provider of the login has signed the user out';
    return this.unauthenticated(call, message, { error: 'signed_out_by_provider' });
  }

  private unauthenticated(
    { request, reply, scope }: Call,
    message: string,
    { error, reason }: { error: string; reason?: BearerReason } = { error: 'invalid_token' },
  ): UnauthorizedException {
    const { baseUrl } = this.startup.config;
    const { authorization } = request.headers;
    void reply.header('www-authenticate', challengeTo({ authorization, baseUrl, scope }, reason));
    const serverTime = isAboutProof(error) ? this.proofs.time() : undefined;
    return new UnauthorizedException({ error, message, serverTime });
  }

  /**
   * Refuses forged requests: other sites can make browsers send the session cookie, so a writing request must
   * prove that it comes from a page of the instance.
   * @rule D41 A session writes only with the instance's own `Origin`.
   */
  private refuseForgery({ method, headers }: FastifyRequest): void {
    if (READING_METHODS.has(method) || headers.origin === this.startup.config.baseUrl) return;
    throw new ForbiddenException({
      error: 'csrf_refused',
      message: 'The request does not come from this instance',
    });
  }
}

/**
 * A later login in the same browser replaces the cookie while a page still shows the previous user. A page
 * that says whom it shows must neither see nor do anything as another user.
 * @rule D51 A session's request that names another user in `X-Session-User` is refused, and changes nothing.
 */
function refuseOtherUser({ headers }: FastifyRequest, { user, credential }: Principal): void {
  // The case of a UUID's letters does not matter (RFC 9562 §4).
  const named = headers[SESSION_USER]?.toString().toLowerCase();
  if (named === undefined || named === user.id) return;
  throw new ConflictException({
    error: 'session_of_another_user',
    message: 'Another user has signed in in this browser',
    // A page that has not seen its own session yet sends messages to this origin only.
    hostOrigin: credential.kind === 'session' ? credential.loginOrigin : null,
  });
}

/**
 * For each route behind the AuthenticationGuard. The flows limit themselves, because key fetches do not
 * count.
 */
@Injectable()
export class WaitLimitInterceptor implements NestInterceptor {
  constructor(private readonly database: Database) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const waited = stateOf(context.switchToHttp().getRequest<FastifyRequest>()).waitedMs;
    if (waited === undefined) return next.handle();
    const answer = () => lastValueFrom(next.handle(), { defaultValue: undefined });
    return from(withinWait(this.database.waitMs - waited, answer));
  }
}
