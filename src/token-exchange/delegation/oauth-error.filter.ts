// Turns whatever ends a token exchange into the OAuth answer for it (RFC 6749 §5.2).
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch, Inject } from '@nestjs/common';
import { INTERNAL_ERROR_MESSAGE, NOT_FOUND } from '../../platform/http/answers.js';
import type { FlowRefusalKind } from '../edge/flow-refusal.js';
import { FlowRefusal } from '../edge/flow-refusal.js';
import { warnOfFlowRefusal } from '../edge/flow-refusal.warning.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import { hostRefusalOf } from '../../platform/http/host-refusal.js';
import type { HttpAnswer } from '../../platform/http/http-answers.js';
import { HttpAnswers, requestOf } from '../../platform/http/http-answers.js';
import { requestIdOf } from '../../platform/http/request-id.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { ThrottledFlow } from '../host/telemetry.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { RejectionReason } from '../rejection.js';
import { Rejection } from '../rejection.js';
import { TooManyRequestsError } from '../../platform/http/throttle/too-many-requests.error.js';

interface Answer extends HttpAnswer {
  readonly body: Readonly<Record<string, string>>;
}

function oauth(status: number, error: string, description: string): Answer {
  return { status, body: { error, error_description: description } };
}

/**
 * @rule D14 Every refused token gets the same bytes: only the log and the audit trail know the cause. Claims, and what is
 * asked for beside the token, have words of their own.
 */
const INVALID_GRANT = oauth(400, 'invalid_grant', 'Token exchange failed');
/** @rule 7.6 Missing or mistyped claims of a correctly signed token. */
const INVALID_CLAIMS = oauth(400, 'invalid_request', 'Token claims validation failed');

/** @rule 7.5 Any token validation failure is `invalid_grant`. */
const REJECTIONS = {
  token_malformed: INVALID_GRANT,
  kid_missing: INVALID_GRANT,
  header_not_allowed: INVALID_GRANT,
  token_type_not_allowed: INVALID_GRANT,
  algorithm_not_allowed: INVALID_GRANT,
  issuer_unknown: INVALID_GRANT,
  kid_unknown: INVALID_GRANT,
  signature_invalid: INVALID_GRANT,
  trust_revoked: INVALID_GRANT,
  claims_invalid: INVALID_CLAIMS,
  claims_not_storable: INVALID_GRANT,
  audience_mismatch: INVALID_GRANT,
  token_expired: INVALID_GRANT,
  token_not_yet_valid: INVALID_GRANT,
  token_issued_in_future: INVALID_GRANT,
  token_lifetime_exceeded: INVALID_GRANT,
  remaining_lifetime_too_short: INVALID_GRANT,
  entry_suspended: INVALID_GRANT,
  trust_ended: INVALID_GRANT,
  flow_not_allowed: INVALID_GRANT,
  origin_not_allowed: INVALID_GRANT,
  actor_required: INVALID_GRANT,
  actor_not_allowed: INVALID_GRANT,
  act_for_not_allowed: INVALID_GRANT,
  scope_not_allowed: oauth(400, 'invalid_scope', 'None of the scopes can be granted'),
  resource_not_allowed: oauth(400, 'invalid_target', 'No token is issued for this resource'),
  token_replayed: INVALID_GRANT,
  email_missing: INVALID_GRANT,
  email_not_verified: INVALID_GRANT,
  email_domain_not_allowed: INVALID_GRANT,
  linking_not_allowed: INVALID_GRANT,
  privileged_linking_not_allowed: INVALID_GRANT,
  provisioning_not_allowed: INVALID_GRANT,
  role_not_allowed: INVALID_GRANT,
  role_not_recognized: INVALID_GRANT,
  role_not_assignable: INVALID_GRANT,
  stored_role_not_allowed: INVALID_GRANT,
  owner_excluded: INVALID_GRANT,
  user_disabled: INVALID_GRANT,
} as const satisfies Record<RejectionReason, Answer>;

/** @rule D17 The body of the 501 serves clients that read OAuth errors and clients that read `message`. */
const REFUSALS = {
  not_available: () => ({ status: 404, body: NOT_FOUND }),
  not_enabled: (message) => ({ status: 501, body: { ...oauth(501, 'server_error', message).body, message } }),
  method_not_allowed: (message) => oauth(405, 'invalid_request', message),
  payload_too_large: (message) => oauth(413, 'invalid_request', message),
  not_a_form: (message) => oauth(415, 'invalid_request', message),
  content_encoding_not_supported: (message) => oauth(415, 'invalid_request', message),
  unsupported_grant_type: (message) => oauth(400, 'unsupported_grant_type', message),
  field_invalid: (message) => oauth(400, 'invalid_request', message),
  token_missing: (message) => oauth(400, 'invalid_request', message),
} as const satisfies Record<FlowRefusalKind, (message: string) => Answer>;

@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  protected readonly flow: ThrottledFlow = 'exchange';
  /** In the log. */
  protected readonly work: string = 'a token exchange';

  constructor(
    @Inject(LOGGER) private readonly logger: Log,
    private readonly telemetry: ExchangeTelemetry,
    private readonly answers: HttpAnswers,
    private readonly outages: DatabaseOutages,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const judged = this.outages.refusalOf(error, this.flow);
    this.answers.send(host, this.answerTo(judged, requestIdOf(requestOf(host))));
  }

  private answerTo(error: unknown, requestId: string): Answer {
    if (error instanceof Rejection) return REJECTIONS[error.reason];
    if (error instanceof FlowRefusal) {
      this.telemetry.countRefusal(this.flow, error.kind);
      warnOfFlowRefusal(this.logger, error, { flow: this.flow, work: this.work, requestId });
      return { ...REFUSALS[error.kind](error.message), headers: error.headers };
    }
    if (error instanceof TooManyRequestsError) {
      this.telemetry.countThrottled(this.flow);
      return { ...oauth(429, 'too_many_requests', error.message), headers: error.headers };
    }
    const refusal = hostRefusalOf(error);
    if (refusal !== undefined) {
      this.telemetry.countRefusal(this.flow, refusal.error);
      return { ...oauth(refusal.status, refusal.error, refusal.message), headers: refusal.headers };
    }
    this.logger.error({ err: error, requestId }, `${this.work} failed by a fault of the service`);
    return oauth(500, 'server_error', INTERNAL_ERROR_MESSAGE);
  }
}
