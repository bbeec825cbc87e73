// Refusals of authenticated API calls: one table from reasons to statuses and messages.
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
// The guard declares the request's `neededScope`.
import type {} from '../../access/authentication.guard.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { Metrics } from '../../metrics/metrics.js';
import { NOT_FOUND } from '../../platform/http/http-messages.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { challengeTo, scopeChallengeTo } from '../../token-exchange/instance.js';

export type ApiRefusalReason =
  /** A field or parameter is invalid; the detail names it and its rule. */
  | 'bad_request'
  /** The user was disabled or deleted after the authentication. */
  | 'invalid_token'
  | 'forbidden'
  /** The access token is limited to scopes and lacks the one that the call needs. */
  | 'insufficient_scope'
  | 'feature_not_licensed'
  /** The object does not exist, or the acting user may not see it. The responses are identical. */
  | 'not_found'
  | 'email_taken'
  | 'already_member'
  | 'personal_project'
  | 'owner_protected'
  | 'own_account'
  /** The limit is reached; the detail says which. */
  | 'quota_exceeded';

export class ApiRefusal extends Error {
  /**
   * @param detail replaces the reason's message; never contains a sent or stored value
   * @param scope the missing scope for `insufficient_scope`; the challenge names it (RFC 6750 §3.1)
   */
  constructor(
    readonly reason: ApiRefusalReason,
    readonly detail?: string,
    readonly scope?: string,
  ) {
    super(detail ?? reason);
    this.name = 'ApiRefusal';
  }
}

/** @throws ApiRefusal `not_found` */
export function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new ApiRefusal('not_found');
  return thing;
}

const ANSWERS = {
  bad_request: { status: 400, message: 'The request is not valid' },
  invalid_token: { status: 401, message: 'The access token or session is no longer valid' },
  forbidden: { status: 403, message: 'Your role does not allow this' },
  insufficient_scope: { status: 403, message: 'The access token lacks the scope for this request' },
  feature_not_licensed: { status: 403, message: 'The licence of this instance does not include this' },
  not_found: { status: 404, message: NOT_FOUND.message },
  email_taken: { status: 409, message: 'Another user has this e-mail address' },
  already_member: { status: 409, message: 'The user is already a member of this project' },
  personal_project: { status: 409, message: 'A personal project belongs to its user alone' },
  owner_protected: { status: 409, message: 'Role and state of the owner cannot be changed here' },
  own_account: { status: 409, message: 'You cannot change the role or the state of your own account' },
  quota_exceeded: { status: 409, message: 'The limit for these objects is reached' },
} satisfies Record<ApiRefusalReason, { status: number; message: string }>;

@Catch(ApiRefusal, TooManyRequestsError)
export class ApiRefusalFilter implements ExceptionFilter<ApiRefusal | TooManyRequestsError> {
  constructor(
    private readonly metrics: Metrics,
    @Inject(STARTUP) private readonly startup: Startup,
  ) {}

  async catch(refusal: ApiRefusal | TooManyRequestsError, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const { status, error, message } = this.answerTo(refusal);
    const { id: requestId, headers, neededScope: scope } = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const { authorization } = headers;
    const { baseUrl } = this.startup.config;
    if (refusal instanceof TooManyRequestsError) void reply.headers(refusal.headers);
    else if (status === 401)
      void reply.header('www-authenticate', challengeTo({ authorization, baseUrl, scope }));
    else if (refusal.scope !== undefined)
      void reply.header(
        'www-authenticate',
        scopeChallengeTo({ authorization, scope: refusal.scope, baseUrl }),
      );
    // Every 404 is identical (D23).
    const body = status === 404 ? NOT_FOUND : { error, message, requestId };
    await reply.status(status).send(body);
  }

  private answerTo(refusal: ApiRefusal | TooManyRequestsError) {
    if (refusal instanceof TooManyRequestsError) {
      this.metrics.throttled.inc({ flow: 'api' });
      return { status: 429, error: 'too_many_requests', message: refusal.message };
    }
    const { status, message } = ANSWERS[refusal.reason];
    return { status, error: refusal.reason, message: refusal.detail ?? message };
  }
}
