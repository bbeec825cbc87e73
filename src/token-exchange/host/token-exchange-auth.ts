// For routes of a host: accepts the package's access tokens, requires scopes, and passes the user to the route.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import {
  applyDecorators,
  createParamDecorator,
  ForbiddenException,
  Inject,
  Injectable,
  SetMetadata,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Database } from '../../platform/database/database.js';
import { Transaction } from '../../platform/database/transaction.js';
import { withinWait } from '../../platform/database/wait-limit.js';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { requestIdOf } from '../../platform/http/http-messages.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import { challengeTo, isSupportedScheme, presentedCallOf, scopeChallengeTo } from '../endpoint/challenge.js';
import { bearerLine } from '../refusals/refusal-line.js';
import type { RouteSettings, TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { ROUTE_SETTINGS, TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import type { BearerReason } from '../tokens/bearer-refusals.js';
import type { Caller, CallerVerdict } from '../tokens/caller.js';
import { callerOf } from '../tokens/caller.js';
import type { HostUser } from './users.js';
import { UserDirectory } from './users.js';

const CALLER = Symbol('who makes the call');
const SCOPES = Symbol('scopes that a route needs');
const NO_CREDENTIAL = { refusal: { reason: 'malformed' } } as const;

const OWN_ROUTES = Symbol('routes of the package');

type CalledRequest = HttpRequest & { [CALLER]?: Partial<Caller<HostUser>>; user?: unknown };

/** Finds the caller. */
@Injectable()
export class CallerService {
  /** The origin of the metadata in challenges; undefined if none is published. */
  readonly metadataOrigin: string | undefined;

  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly proofs: DpopProofs,
    private readonly users: UserDirectory,
    private readonly database: Database,
    @Inject(LOGGER) private readonly log: Log,
    @Inject(ROUTE_SETTINGS) { metadata }: Required<RouteSettings>,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {
    this.metadataOrigin = metadata ? accessTokens.audience : undefined;
  }

  /**
   * @throws DatabaseWaitError if the database does not answer in time; TemporarilyUnavailableException if the revocations are
   * unknown
   */
  async find(request: HttpRequest): Promise<CallerVerdict<HostUser>> {
    const verdict = await withinWait(this.database.waitMs, () => this.verdictOn(request));
    if ('caller' in verdict || verdict.refusal.reason === 'dpop_nonce_required') return verdict;
    const { refusal } = verdict;
    const requestId = requestIdOf(request);
    this.log.warn({ requestId, reason: refusal.reason }, bearerLine(refusal.reason, refusal));
    return verdict;
  }

  /** The nonce for the answer to a call with a proof; undefined if none is required. */
  nonce(): string | undefined {
    return this.proofs.nonce();
  }

  private async verdictOn(request: HttpRequest): Promise<CallerVerdict<HostUser>> {
    const call = presentedCallOf(request);
    if (call === undefined) return NO_CREDENTIAL;
    // Reading one row needs no transaction.
    const reading = Transaction.none(this.database);
    const verdict = await this.proofs.check(await this.accessTokens.check(call.token), call);
    return callerOf(verdict, (id) => this.users.findById(reading, id), this.options.roles);
  }
}

/**
 * The guard of `TokenExchangeAuth`, also for all routes by `APP_GUARD`, and extensible. It lets the package's endpoints pass, and
 * sets `request.user` to the caller's user if nobody has set it.
 */
@Injectable()
export class TokenExchangeGuard implements CanActivate {
  constructor(
    private readonly callers: CallerService,
    protected readonly reflector: Reflector,
  ) {}

  /**
   * Replaces the guard in tests of guarded routes (`overrideGuard`): every call has this caller, without a token. Scopes of a
   * route are still required.
   */
  static admitting(caller: Partial<Caller<HostUser>> & Pick<Caller<HostUser>, 'user'>): CanActivate {
    return {
      canActivate: (context) => {
        const request = context.switchToHttp().getRequest<CalledRequest>();
        const needed = scopesOf(new Reflector(), context);
        if (lacks(caller.scopes, needed)) throw new ForbiddenException(needsScopes(needed));
        hand(request, { rightsOf: [caller.user], ...caller });
        return true;
      },
    };
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get<boolean>(OWN_ROUTES, context.getClass())) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<CalledRequest>();
    const response = http.getResponse<HeaderTaker>();
    const needed = scopesOf(this.reflector, context);
    const { authorization } = request.headers;
    const call = { authorization, baseUrl: this.callers.metadataOrigin, scope: needed.join(' ') };
    const { caller, refusal } = await this.verdictOn(request, response);
    if (caller === undefined) {
      response.header('www-authenticate', challengeTo(call, refusal?.reason));
      const message = 'The access token is invalid or has expired';
      throw new UnauthorizedException(isSupportedScheme(authorization) ? message : 'Send an access token');
    }
    if (lacks(caller.scopes, needed)) {
      response.header('www-authenticate', scopeChallengeTo(call));
      throw new ForbiddenException(needsScopes(needed));
    }
    return true;
  }

  /** Neither a caller nor a refusal if no credential was sent. */
  private async verdictOn(
    request: CalledRequest,
    response: HeaderTaker,
  ): Promise<{ caller?: Partial<Caller<HostUser>>; refusal?: { reason: BearerReason } }> {
    const { [CALLER]: caller } = request;
    if (caller !== undefined) return { caller };
    if (request.headers.authorization === undefined) return {};
    const verdict = await this.callers.find(request);
    const nonce = request.headers['dpop'] === undefined ? undefined : this.callers.nonce();
    if (nonce !== undefined) response.header('dpop-nonce', nonce);
    if ('caller' in verdict) hand(request, verdict.caller);
    return verdict;
  }
}

function scopesOf(reflector: Reflector, context: ExecutionContext): readonly string[] {
  return reflector.getAllAndMerge<string[]>(SCOPES, [context.getHandler(), context.getClass()]);
}

/** A token without scopes is not limited. */
function lacks(scopes: ReadonlySet<string> | undefined, needed: readonly string[]): boolean {
  return scopes !== undefined && needed.some((scope) => !scopes.has(scope));
}

function needsScopes(needed: readonly string[]): string {
  return `The access token needs the scope ${needed.join(' ')}`;
}

function hand(request: CalledRequest, caller: Partial<Caller<HostUser>>): void {
  request[CALLER] = caller;
  request.user ??= caller.user;
}

/** A response of Fastify or Express. */
interface HeaderTaker {
  header(name: string, value: string): unknown;
}

/**
 * Lets calls with a valid access token of the package pass. Others get 401 with a challenge (RFC 6750, RFC 9449). Revoked tokens,
 * and
 * those whose users are disabled or signed out, are refused. For controllers and single routes, by HTTP.
 */
export function TokenExchangeAuth(): ClassDecorator & MethodDecorator {
  return UseGuards(TokenExchangeGuard);
}

/**
 * As `TokenExchangeAuth`, and requires all of these scopes of limited tokens, otherwise 403. Scopes add up over a method, its
 * class, the classes that this extends, and several decorators. A token without scopes passes: the route must check its user's
 * rights.
 */
export function RequireScopes(...scopes: string[]): ClassDecorator & MethodDecorator {
  return applyDecorators(addScopes(scopes), TokenExchangeAuth());
}

/** `SetMetadata` would replace what the target has already, or inherits. */
function addScopes(scopes: readonly string[]) {
  return (target: object, _name?: string | symbol, method?: PropertyDescriptor): void => {
    const holder = (method?.value as object | undefined) ?? target;
    const before = (Reflect.getMetadata(SCOPES, holder) as string[] | undefined) ?? [];
    Reflect.defineMetadata(SCOPES, [...before, ...scopes], holder);
  };
}

/** Marks the package's controllers, which need no access token, for a `TokenExchangeGuard` that guards all routes. */
export const OwnRoutes: () => ClassDecorator = () => SetMetadata(OWN_ROUTES, true);

/** The value of `CurrentUser`. @throws Error without a guard */
export function currentUser(member: keyof Caller<HostUser> | undefined, context: ExecutionContext): unknown {
  const caller = context.switchToHttp().getRequest<CalledRequest>()[CALLER];
  if (caller === undefined)
    throw new Error('CurrentUser needs TokenExchangeAuth on the route or its controller');
  return caller[member ?? 'user'];
}

/**
 * The caller behind `TokenExchangeAuth`: the user whose rights apply, or another property of `Caller`, such as `onBehalfOf` or
 * `rightsOf`.
 */
export const CurrentUser = createParamDecorator(currentUser);
