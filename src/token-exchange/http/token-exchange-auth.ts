// For routes of a host: lets access tokens of the package in, asks for scopes, and hands the route its user.
import type { CanActivate, ExecutionContext, OnModuleInit } from '@nestjs/common';
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
import { ModuleRef, Reflector } from '@nestjs/core';
import { Database } from '../../platform/database/database.js';
import { Transaction } from '../../platform/database/transaction.js';
import { withinWait } from '../../platform/database/wait-limit.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { HostUser } from '../host/users.js';
import { UserDirectory } from '../host/users.js';
import { bearerLine } from '../refusals/refusal-line.js';
import type { RouteSettings } from '../settings/token-exchange.options.js';
import { ROUTE_SETTINGS } from '../settings/token-exchange.options.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import type { Caller, CallerVerdict } from '../tokens/caller.js';
import { callerOf } from '../tokens/caller.js';
import { bearerTokenIn, challengeTo, scopeChallengeTo } from './challenge.js';

const CALLER = Symbol('who makes the call');
const SCOPES = Symbol('scopes that a route needs');
const NO_BEARER = { refusal: { reason: 'malformed' } } as const;

type CalledRequest = HttpRequest & { [CALLER]?: Caller<HostUser> };

/** Finds out who makes a call, by the parts of the registration. */
@Injectable()
export class CallerService {
  /** The origin whose metadata challenges name; undefined where none is published. */
  readonly metadataOrigin: string | undefined;

  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly users: UserDirectory,
    private readonly database: Database,
    @Inject(LOGGER) private readonly log: Log,
    @Inject(ROUTE_SETTINGS) { metadata }: Required<RouteSettings>,
  ) {
    this.metadataOrigin = metadata ? accessTokens.audience : undefined;
  }

  /** @throws DatabaseWaitError where the database does not answer in time; TemporarilyUnavailableException where it is not known what was revoked */
  async find(authorization: string, requestId: string): Promise<Caller<HostUser> | undefined> {
    const verdict = await withinWait(this.database.waitMs, () => this.verdictOn(authorization));
    if ('caller' in verdict) return verdict.caller;
    const { refusal } = verdict;
    this.log.warn({ requestId, reason: refusal.reason }, bearerLine(refusal.reason, refusal));
    return undefined;
  }

  private async verdictOn(authorization: string): Promise<CallerVerdict<HostUser>> {
    const token = bearerTokenIn(authorization);
    if (token === undefined) return NO_BEARER;
    // To read one row needs no transaction.
    const reading = new Transaction(this.database.dataSource.manager);
    return callerOf(await this.accessTokens.check(token), (id) => this.users.findById(reading, id));
  }
}

@Injectable()
export class TokenExchangeGuard implements CanActivate, OnModuleInit {
  private callers!: CallerService;

  constructor(
    private readonly modules: ModuleRef,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Error where the application does not have the module: at the start, not at the first call */
  onModuleInit(): void {
    try {
      this.callers = this.modules.get(CallerService, { strict: false });
    } catch (cause) {
      throw new Error('TokenExchangeAuth needs TokenExchangeModule', { cause });
    }
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<CalledRequest>();
    const { scopes } = (request[CALLER] ??= await this.callerOf(request, http.getResponse<HeaderTaker>()));
    const needed = this.reflector.getAllAndMerge<string[]>(SCOPES, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (scopes !== undefined && needed.some((scope) => !scopes.has(scope)))
      this.refuseScopes(needed, http.getResponse<HeaderTaker>());
    return true;
  }

  private async callerOf(request: CalledRequest, response: HeaderTaker): Promise<Caller<HostUser>> {
    const { authorization } = request.headers;
    const caller =
      authorization === undefined ? undefined : await this.callers.find(authorization, requestIdOf(request));
    if (caller !== undefined) return caller;
    const baseUrl = this.callers.metadataOrigin;
    response.header('www-authenticate', challengeTo({ authorization, baseUrl }));
    const message = 'The access token is invalid or has expired';
    throw new UnauthorizedException(authorization === undefined ? 'Send an access token' : message);
  }

  private refuseScopes(needed: readonly string[], response: HeaderTaker): never {
    const scope = needed.join(' ');
    response.header('www-authenticate', scopeChallengeTo({ scope, baseUrl: this.callers.metadataOrigin }));
    throw new ForbiddenException(`The access token needs the scope ${scope}`);
  }
}

/** A response of Fastify or Express. */
interface HeaderTaker {
  header(name: string, value: string): unknown;
}

/**
 * Lets calls through that present a live access token of the package; others get 401 with a challenge (RFC 6750). Revoked tokens, and
 * those whose users are disabled or signed out, are refused. For controllers and single routes, by HTTP.
 */
export function TokenExchangeAuth(): ClassDecorator & MethodDecorator {
  return UseGuards(TokenExchangeGuard);
}

/**
 * As `TokenExchangeAuth`, and asks limited tokens for all of these scopes, else 403. Scopes of a class and of a method add up. A token
 * that is not limited passes: what its user may do is for the route to ask.
 */
export function RequireScopes(...scopes: string[]): ClassDecorator & MethodDecorator {
  return applyDecorators(SetMetadata(SCOPES, scopes), TokenExchangeAuth());
}

/**
 * Who makes the call, behind `TokenExchangeAuth`: the user whose rights count, or another member of `Caller`, such as `onBehalfOf`
 * or `rightsOf`.
 */
export const CurrentUser = createParamDecorator(
  (member: keyof Caller<HostUser> | undefined, context: ExecutionContext) => {
    const caller = context.switchToHttp().getRequest<CalledRequest>()[CALLER];
    if (caller === undefined)
      throw new Error('CurrentUser needs TokenExchangeAuth on the route or its controller');
    return caller[member ?? 'user'];
  },
);
