// Lets a request of the operator's API through that comes from a page of the instance and, but for signing in, of a signed-in operator.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { readSessionCookies } from '../../token-exchange/advanced.js';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import type { OperatorOptions } from './operator.options.js';
import { OPERATOR_OPTIONS } from './operator.options.js';
import { readOperatorCookie } from './operator-cookie.js';
import { OperatorRefusal } from './operator-refusal.js';
import { OperatorSessionService } from './operator-session.service.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the OperatorGuard. */
    operator?: LiveOperatorSession;
  }
}

/** What a browser says of a request that no other site has made. */
const OWN_SITES = new Set(['same-origin', 'none']);

/** For signing in and out: nobody need be signed in. */
@Injectable()
export class OwnPageGuard implements CanActivate {
  constructor(@Inject(OPERATOR_OPTIONS) private readonly options: Pick<OperatorOptions, 'baseUrl'>) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    refuseOtherCredentials(request);
    refuseForeignPage(request, this.options.baseUrl);
    return true;
  }
}

@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly sessions: OperatorSessionService,
    @Inject(OPERATOR_OPTIONS) private readonly options: Pick<OperatorOptions, 'baseUrl'>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const secret = readOperatorCookie(request.headers.cookie);
    refuseOtherCredentials(request);
    if (secret === undefined && readSessionCookies(request.headers.cookie).length > 0)
      throw new OperatorRefusal('operator_session_required');
    refuseForeignPage(request, this.options.baseUrl);
    request.operator = secret === undefined ? undefined : await this.sessions.find(secret);
    if (request.operator === undefined) throw new OperatorRefusal('sign_in_required');
    return true;
  }
}

/**
 * @rule D109 The operator's API takes its own sign-in alone, whatever the role: no access token, no embedded session; and the
 * operator's session opens nothing else. See operator-cookie.ts for its name, which nothing else reads.
 */
function refuseOtherCredentials({ headers }: FastifyRequest): void {
  if (headers.authorization !== undefined) throw new OperatorRefusal('operator_session_required');
}

/**
 * Browsers send the cookie to pages of the same site only (`SameSite=Strict`); another origin of the site is not the instance.
 * @rule D110 What writes needs the instance's own `Origin`, also to sign in; what reads is refused to other sites.
 */
function refuseForeignPage({ method, headers }: FastifyRequest, baseUrl: string): void {
  const isOwn =
    method === 'GET' || method === 'HEAD'
      ? OWN_SITES.has(String(headers['sec-fetch-site'] ?? 'none'))
      : headers.origin === baseUrl;
  if (!isOwn) throw new OperatorRefusal('csrf_refused');
}
