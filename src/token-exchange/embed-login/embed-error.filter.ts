// Turns whatever ends an embedded login into the answer for it: JSON, or the same as a page.
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch, Inject, Optional } from '@nestjs/common';
import { INTERNAL_ERROR_MESSAGE, NOT_FOUND } from '../../platform/http/answers.js';
import type { FlowRefusalKind } from '../edge/flow-refusal.js';
import { FlowRefusal } from '../edge/flow-refusal.js';
import { warnOfFlowRefusal } from '../edge/flow-refusal.warning.js';
import { FormBodies } from '../edge/form-bodies.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import { hostRefusalOf } from '../../platform/http/host-refusal.js';
import { HttpAnswers, requestOf } from '../../platform/http/http-answers.js';
import { requestIdOf } from '../../platform/http/request-id.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { RenderedPage } from '../host/login-failure-page.js';
import { LoginFailurePage } from '../host/login-failure-page.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { RejectionReason } from '../rejection.js';
import { Rejection } from '../rejection.js';
import { TooManyRequestsError } from '../../platform/http/throttle/too-many-requests.error.js';
import { asksForPage } from './embed-login.form.js';
import { pageOriginOf } from './login-origin.js';

interface Answer {
  readonly status: number;
  /** The stable word for programs. */
  readonly error: string;
  readonly message: string;
}

/** Whom the instance trusts is told to nobody: an unknown issuer and an unknown key have one answer. */
const KEY_UNKNOWN = unauthorized('key_unknown', 'No trusted key matches the token');

/**
 * @rule 7.7 A validation failure answers 401 with a specific message.
 * @rule 7.8 Missing or mistyped claims answer 500.
 * @rule D18 A stable word for programs beside the message.
 */
const REJECTIONS = {
  token_malformed: unauthorized('token_malformed', 'Token is malformed'),
  kid_missing: unauthorized('kid_missing', 'Token header missing kid'),
  header_not_allowed: unauthorized('header_not_allowed', 'Token header is not supported'),
  token_type_not_allowed: unauthorized('token_type_not_allowed', 'Token type is not accepted'),
  algorithm_not_allowed: unauthorized('algorithm_not_allowed', 'Token algorithm is not allowed'),
  issuer_unknown: KEY_UNKNOWN,
  kid_unknown: KEY_UNKNOWN,
  signature_invalid: unauthorized('signature_invalid', 'Token signature is invalid'),
  trust_revoked: unauthorized('trust_revoked', 'Trust in the key of the token was revoked'),
  claims_invalid: { status: 500, error: 'claims_invalid', message: 'Token claims validation failed' },
  claims_not_storable: unauthorized('claims_not_storable', 'Token claims cannot be processed'),
  audience_mismatch: unauthorized('audience_mismatch', 'Token audience does not match'),
  token_expired: unauthorized('token_expired', 'Token has expired'),
  token_not_yet_valid: unauthorized('token_not_yet_valid', 'Token is not valid yet'),
  token_issued_in_future: unauthorized('token_issued_in_future', 'Token was issued in the future'),
  token_lifetime_exceeded: unauthorized('token_lifetime_exceeded', 'Token lifetime exceeds maximum allowed'),
  remaining_lifetime_too_short: unauthorized('remaining_lifetime_too_short', 'Token is about to expire'),
  entry_suspended: unauthorized('entry_suspended', 'Trust in the issuer of the token is suspended'),
  trust_ended: unauthorized('trust_ended', 'Trust in the issuer of the token has ended'),
  flow_not_allowed: unauthorized('flow_not_allowed', 'Token is not accepted for embedded login'),
  origin_not_allowed: unauthorized('origin_not_allowed', 'Login is not accepted from this origin'),
  actor_required: unauthorized('actor_required', 'Token is accepted together with an actor only'),
  actor_not_allowed: unauthorized('actor_not_allowed', 'Actor is not allowed'),
  act_for_not_allowed: unauthorized('act_for_not_allowed', 'Actor may not act for this subject'),
  scope_not_allowed: unauthorized('scope_not_allowed', 'None of the scopes can be granted'),
  resource_not_allowed: unauthorized('resource_not_allowed', 'No token is issued for this resource'),
  token_replayed: unauthorized('token_replayed', 'Token has already been used'),
  email_missing: unauthorized('email_missing', 'Token has no e-mail address for a new user'),
  email_not_verified: unauthorized('email_not_verified', 'The e-mail address is not verified'),
  email_domain_not_allowed: unauthorized('email_domain_not_allowed', 'The e-mail domain is not allowed'),
  linking_not_allowed: unauthorized('linking_not_allowed', 'The user exists, and may not be linked'),
  privileged_linking_not_allowed: unauthorized(
    'privileged_linking_not_allowed',
    'The user is an administrator, and may not be linked',
  ),
  provisioning_not_allowed: unauthorized('provisioning_not_allowed', 'The user is not known'),
  role_not_allowed: unauthorized('role_not_allowed', 'Role is not allowed'),
  role_not_recognized: unauthorized('role_not_recognized', 'Role is not recognized'),
  role_not_assignable: unauthorized('role_not_assignable', 'Role cannot be assigned'),
  stored_role_not_allowed: unauthorized('stored_role_not_allowed', "The user's role is not allowed"),
  owner_excluded: unauthorized('owner_excluded', 'The owner is not allowed'),
  user_disabled: unauthorized('user_disabled', 'User is disabled'),
} as const satisfies Record<RejectionReason, Answer>;

const REFUSAL_STATUS = {
  not_available: 404,
  not_enabled: 501,
  method_not_allowed: 405,
  payload_too_large: 413,
  not_a_form: 415,
  content_encoding_not_supported: 415,
  unsupported_grant_type: 400,
  field_invalid: 400,
  token_missing: 400,
} as const satisfies Record<FlowRefusalKind, number>;

/**
 * @rule 7.9 A failure is always a JSON answer, never a redirect.
 * @rule D50 A post of the instance's own script gets the same status and word as a page.
 */
@Catch()
export class EmbedErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: Log,
    private readonly telemetry: ExchangeTelemetry,
    private readonly answers: HttpAnswers,
    private readonly bodies: FormBodies,
    private readonly outages: DatabaseOutages,
    @Optional() private readonly page?: LoginFailurePage,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const error = this.outages.refusalOf(thrown, 'embed');
    const request = requestOf(host);
    const { status, ...json } = this.answerTo(error, requestIdOf(request));
    const page = this.pageFor(request, json.error);
    const headers = { ...headersOf(error), ...(page && { 'content-type': page.contentType }) };
    this.answers.send(host, { status, body: page?.body ?? json, headers });
  }

  /** Undefined where JSON is the answer. */
  private pageFor(request: HttpRequest, word: string): RenderedPage | undefined {
    if (this.page === undefined || request.method !== 'POST') return undefined;
    if (!asksForPage(this.bodyOf(request), request.url)) return undefined;
    const loginOrigin = pageOriginOf(request.headers.origin);
    return this.page.render({ word, requestId: requestIdOf(request), loginOrigin });
  }

  /** A body that cannot be had, which then is why the login has failed, asks for nothing. */
  private bodyOf(request: HttpRequest): unknown {
    try {
      return this.bodies.of(request).body;
    } catch {
      return undefined;
    }
  }

  private answerTo(error: unknown, requestId: string): Answer {
    if (error instanceof Rejection) return REJECTIONS[error.reason];
    if (error instanceof FlowRefusal) {
      this.telemetry.countRefusal('embed', error.kind);
      warnOfFlowRefusal(this.logger, error, { flow: 'embed', work: 'an embedded login', requestId });
      return refused(error);
    }
    if (error instanceof TooManyRequestsError) {
      this.telemetry.countThrottled('embed');
      return { status: 429, error: 'too_many_requests', message: error.message };
    }
    const refusal = hostRefusalOf(error);
    if (refusal !== undefined) {
      const { status, error: word, message } = refusal;
      this.telemetry.countRefusal('embed', word);
      return { status, error: word, message };
    }
    this.logger.error({ err: error, requestId }, 'an embedded login failed by a fault of the service');
    return { status: 500, error: 'internal_error', message: INTERNAL_ERROR_MESSAGE };
  }
}

function headersOf(error: unknown): HttpAnswer['headers'] {
  const isOurs = error instanceof FlowRefusal || error instanceof TooManyRequestsError;
  return isOurs ? error.headers : hostRefusalOf(error)?.headers;
}

function refused({ kind, message }: FlowRefusal): Answer {
  if (kind === 'not_available') return { status: 404, ...NOT_FOUND };
  return { status: REFUSAL_STATUS[kind], error: kind, message };
}

function unauthorized(error: string, message: string): Answer {
  return { status: 401, error, message };
}
