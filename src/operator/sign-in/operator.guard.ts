// Guards of the operator's API: requests must come from a page of the instance and, except for sign-in, from
// a signed-in operator. Also limits their rate.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { createParamDecorator, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { minuteThrottler } from '../../platform/http/throttle/rate-limit.js';
import { readSessionCookies } from '../../token-exchange/instance.js';
import { OperatorRefusal } from './operator-refusal.filter.js';
import { OperatorSessionService } from './operator-session.service.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the OperatorGuard. */
    operator?: LiveOperatorSession;
  }
}

/** The `Sec-Fetch-Site` of requests that no other site made. */
const OWN_SITES = new Set(['same-origin', 'none']);

/** Guards sign-in and sign-out, which work without a session. */
@Injectable()
export class OwnPageGuard implements CanActivate {
  constructor(@Inject(STARTUP) private readonly startup: Startup) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    refuseOtherCredentials(request);
    refuseForeignPage(request, this.startup.config.baseUrl);
    return true;
  }
}

/** Marks a route that the page calls without a person: it does not extend the sign-in (D113). */
export const Unattended = Reflector.createDecorator<undefined, true>({ transform: () => true });

@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly sessions: OperatorSessionService,
    private readonly reflector: Reflector,
    @Inject(STARTUP) private readonly startup: Startup,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const secret = readOperatorCookie(request.headers.cookie);
    refuseOtherCredentials(request);
    if (secret === undefined && readSessionCookies(request.headers.cookie).length > 0)
      throw new OperatorRefusal('operator_session_required');
    refuseForeignPage(request, this.startup.config.baseUrl);
    const isUse = !this.reflector.get(Unattended, context.getHandler());
    request.operator = secret === undefined ? undefined : await this.sessions.find(secret, isUse);
    if (request.operator === undefined) throw new OperatorRefusal('sign_in_required');
    return true;
  }
}

/**
 * @rule D109 The operator's API accepts only its own sessions, for every role: no access token, no embedded
 * session. Only the operator's API accepts these sessions and reads their cookie.
 */
function refuseOtherCredentials({ headers }: FastifyRequest): void {
  if (headers.authorization !== undefined) throw new OperatorRefusal('operator_session_required');
}

/**
 * Browsers send the cookie only to pages of the same site (`SameSite=Strict`), but another origin of the site
 * is not the instance. Writes, including sign-in, need the instance's own `Origin`. Reads from other sites
 * are refused (D109).
 */
function refuseForeignPage({ method, headers }: FastifyRequest, baseUrl: string): void {
  const isOwn =
    method === 'GET' || method === 'HEAD'
      ? OWN_SITES.has(String(headers['sec-fetch-site'] ?? 'none'))
      : headers.origin === baseUrl;
  if (!isOwn) throw new OperatorRefusal('csrf_refused');
}

export const CurrentOperator = createParamDecorator((_: unknown, context: ExecutionContext) =>
  operatorOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

export function operatorOf({ operator }: Pick<FastifyRequest, 'operator'>): LiveOperatorSession {
  if (operator === undefined) throw new Error('the route needs the OperatorGuard');
  return operator;
}

const SIGN_INS_PER_MINUTE = 30;
const CALLS_PER_MINUTE = 600;
/** Several operators may share an address. */
const REQUESTS_PER_ADDRESS_PER_MINUTE = 1_200;

/**
 * @rule B.operator Calls of the operator's API and sign-ins are counted per client address; an operator's
 * calls are also counted per operator.
 */
export const OperatorSignInThrottlerGuard = minuteThrottler(
  'operator-sign-in',
  STARTUP,
  () => SIGN_INS_PER_MINUTE,
);

/** Runs before a cookie is looked up, because strangers can invent cookies. */
export const OperatorAddressThrottlerGuard = minuteThrottler(
  'operator-address',
  STARTUP,
  () => REQUESTS_PER_ADDRESS_PER_MINUTE,
);

/** Runs after the OperatorGuard. */
export const OperatorThrottlerGuard = minuteThrottler(
  'operator',
  STARTUP,
  () => CALLS_PER_MINUTE,
  (request: Pick<FastifyRequest, 'operator'>) => operatorOf(request).userId,
);

/** The `__Host-` prefix binds the cookie to this host, `Secure` and `Path=/` (RFC 6265bis §4.1.3). */
const OPERATOR_COOKIE = '__Host-svc-operator';

/** 256 bits in base64url: the service never sets another format. */
const CARRIED_SECRET = new RegExp(`(?:^|;)[ \\t]*${OPERATOR_COOKIE}=([\\w-]{43})[ \\t]*(?=;|$)`);

/**
 * The `Set-Cookie` value of a session. Browsers also accept it from `http://localhost`, like embedded
 * sessions' cookies.
 * @param maxAgeSeconds 0 clears the cookie
 */
export function operatorCookie(secret: string, maxAgeSeconds: number): string {
  return stringifySetCookie({
    name: OPERATOR_COOKIE,
    value: secret,
    maxAge: maxAgeSeconds,
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'strict',
  });
}

export function readOperatorCookie(header: string | undefined): string | undefined {
  return CARRIED_SECRET.exec(header ?? '')?.[1];
}
