// For routes of a host: lets access tokens of the package in, asks for scopes, and hands the route its user.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import {
  ForbiddenException,
  Inject,
  Injectable,
  SetMetadata,
  UnauthorizedException,
  UseGuards,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Database } from '../../platform/database/database.js';
import { Transaction } from '../../platform/database/transaction.js';
import { withinWait } from '../../platform/database/wait-limit.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { HostUser } from './users.js';
import { UserDirectory } from './users.js';
import { bearerLine } from '../refusals/refusal-line.js';
import type { RouteSettings, TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { ROUTE_SETTINGS, TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import type { BearerReason } from '../tokens/bearer-refusals.js';
import type { Caller, CallerVerdict } from '../tokens/caller.js';
import { callerOf } from '../tokens/caller.js';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import { challengeTo, isServedScheme, presentedCallOf, scopeChallengeTo } from '../endpoint/challenge.js';

const CALLER = Symbol('who makes the call');
const SCOPES = Symbol('scopes that a route needs');
const NO_CREDENTIAL = { refusal: { reason: 'malformed' } } as const;

const OWN_ROUTES = Symbol('routes of the package');

type CalledRequest = HttpRequest & { [CALLER]?: Partial<Caller<HostUser>>; user?: unknown };

/** Finds out who makes a call. */
@Injectable()
export class CallerService {
  /** The origin whose metadata challenges name; undefined where none is published. */
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

  /** @throws DatabaseWaitError where the database does not answer in time; TemporarilyUnavailableException where it is not known what was revoked */
  async find(request: HttpRequest): Promise<CallerVerdict<HostUser>> {
    const verdict = await withinWait(this.database.waitMs, () => this.verdictOn(request));
    if ('caller' in verdict || verdict.refusal.reason === 'dpop_nonce_required') return verdict;
    const { refusal } = verdict;
    const requestId = requestIdOf(request);
    this.log.warn({ requestId, reason: refusal.reason }, bearerLine(refusal.reason, refusal));
    return verdict;
  }

  /** For the answer to a call with a proof; undefined where none is asked for. */
  nonce(): string | undefined {
    return this.proofs.nonce();
  }

  private async verdictOn(request: HttpRequest): Promise<CallerVerdict<HostUser>> {
    const call = presentedCallOf(request);
    if (call === undefined) return NO_CREDENTIAL;
    // To read one row needs no transaction.
    const reading = Transaction.none(this.database);
    const verdict = await this.proofs.check(await this.accessTokens.check(call.token), call);
    return callerOf(verdict, (id) => this.users.findById(reading, id), this.options.roles);
  }
}

/**
 * The guard of `TokenExchangeAuth`, for all routes by `APP_GUARD`, and to be extended. It lets the endpoints of the package through, and
 * sets `request.user` to the caller's user if nobody has set it.
 */
@Injectable()
export class TokenExchangeGuard implements CanActivate {
  constructor(
    private readonly callers: CallerService,
    protected readonly reflector: Reflector,
  ) {}

  /**
   * For tests of guarded routes, in the place of the guard (`overrideGuard`): every call is made by this caller, without a token, and the
   * scopes of a route are asked for.
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
      throw new UnauthorizedException(isServedScheme(authorization) ? message : 'Send an access token');
    }
    if (lacks(caller.scopes, needed)) {
      response.header('www-authenticate', scopeChallengeTo(call));
      throw new ForbiddenException(needsScopes(needed));
    }
    return true;
  }

  /** Neither a caller nor a refusal where no credential was sent. */
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
 * Lets calls through that present a live access token of the package; others get 401 with a challenge (RFC 6750, RFC 9449). Revoked tokens, and
 * those whose users are disabled or signed out, are refused. For controllers and single routes, by HTTP.
 */
export function TokenExchangeAuth(): ClassDecorator & MethodDecorator {
  return UseGuards(TokenExchangeGuard);
}

/**
 * As `TokenExchangeAuth`, and asks limited tokens for all of these scopes, else 403. Scopes add up: those of a method, of its class and
 * of the classes that this extends, and of decorators on one another. A token that is not limited passes: what its user may do is
 * for the route to ask.
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

/** Marks controllers of the package, which `TokenExchangeGuard` lets through where it guards all routes: they ask for no access token. */
export const OwnRoutes: () => ClassDecorator = () => SetMetadata(OWN_ROUTES, true);

/** What `CurrentUser` gives. @throws Error behind no guard */
export function currentUser(member: keyof Caller<HostUser> | undefined, context: ExecutionContext): unknown {
  const caller = context.switchToHttp().getRequest<CalledRequest>()[CALLER];
  if (caller === undefined)
    throw new Error('CurrentUser needs TokenExchangeAuth on the route or its controller');
  return caller[member ?? 'user'];
}

/**
 * Who makes the call, behind `TokenExchangeAuth`: the user whose rights count, or another member of `Caller`, such as `onBehalfOf`
 * or `rightsOf`.
 */
export const CurrentUser = createParamDecorator(currentUser);
