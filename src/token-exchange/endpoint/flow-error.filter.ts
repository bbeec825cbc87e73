// Turns each error of the endpoints into an answer and a log line. flow.runner.ts has already recorded it.
import type { ArgumentsHost, ExceptionFilter, Type } from '@nestjs/common';
import { Catch, HttpException, HttpStatus, Inject, Injectable } from '@nestjs/common';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-messages.js';
import {
  HttpAnswers,
  NOT_FOUND,
  requestIdOf,
  requestOf,
  stateOf,
} from '../../platform/http/http-messages.js';
import { TemporarilyUnavailableException } from '../../platform/http/temporarily-unavailable.exception.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { RefusedRequest, RefusedToken } from '../refusals/oauth-refusal.js';
import { isRequestRefusal, isTokenRefusal } from '../refusals/oauth-refusal.js';
import type { EndpointAnswer } from '../refusals/refusal.js';
import { requestRefusalLine } from '../refusals/refusal-line.js';
import { REQUEST_REFUSALS } from '../refusals/refusals.js';
import { loginAnswerOf, oauthAnswerOf } from '../refusals/token-answers.js';
import { eventAnswerOf } from '../signals/event-checks.js';
import { isAboutProof } from './challenge.js';
import type { Endpoint, ThrottledFlow } from './flows.js';
import { isOfAssertion, WORK } from './flows.js';
import { FAULT } from './request-refusals.js';

/** Where an error occurred. `flow` is its name in metrics and in the log. */
interface Place {
  readonly endpoint: Endpoint;
  readonly flow: ThrottledFlow;
  readonly request: HttpRequest;
}

/** The answer to the client, in no endpoint's format yet. */
interface Refused extends Required<EndpointAnswer> {
  readonly headers?: HttpAnswer['headers'];
}

const CHALLENGE = { 'www-authenticate': 'Basic realm="token"' };
/** Every refused logout token gets the same 400 (§2.8; D130). Only log and audit trail have the cause. */
const LOGOUT_REFUSED = { status: 400, error: 'invalid_request', message: 'Logout token validation failed' };

/** The same answer to every refused question about a refusal (D146). */
const NOT_EXPLAINED = { status: 404, error: 'not_found', message: 'No refusal to explain' };

/** Answers an error of an endpoint, counts it and logs it. */
@Injectable()
abstract class FlowErrorFilter implements ExceptionFilter {
  protected abstract readonly endpoint: Endpoint;

  constructor(
    @Inject(LOGGER) private readonly logger: Log,
    private readonly telemetry: ExchangeTelemetry,
    private readonly answers: HttpAnswers,
    private readonly outages: DatabaseOutages,
    private readonly proofs: DpopProofs,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const { endpoint } = this;
    const request = requestOf(host);
    const { flow = endpoint } = stateOf(request);
    const { retryAdvice } = WORK[flow];
    const error = this.outages.refusalOf(thrown, { label: flow, retryAdvice });
    const place = { endpoint, flow, request };
    const refused = this.refusedFor(error, place);
    const written = endpoint === 'embed' ? this.asLogin(refused) : asOAuth(refused, error, endpoint);
    this.answers.reply(request, host.switchToHttp().getResponse(), written);
  }

  private refusedFor(error: unknown, place: Place): Refused {
    if (isTokenRefusal(error)) return refusedToken(error, place);
    if (isRequestRefusal(error)) return this.refusedRequest(error, place);
    if (error instanceof TooManyRequestsError) {
      this.telemetry.countThrottled(place.flow);
      const { message, headers } = error;
      return { status: 429, error: 'too_many_requests', message, headers };
    }
    const refusal = hostRefusalOf(error);
    if (refusal === undefined) return this.fault(error, place);
    this.telemetry.countRefusal(place.flow, refusal.error);
    return refusal;
  }

  /** @rule D79 A refused form is a warning with its request id, and no record in the trail. */
  private refusedRequest(refusal: RefusedRequest, { endpoint, flow, request }: Place): Refused {
    const { reason, message, headers, context } = refusal;
    const { status, isSilent, oauth = 'invalid_request', embed = reason } = REQUEST_REFUSALS[reason];
    this.telemetry.countRefusal(flow, reason);
    if (isSilent !== true) {
      const values = { detail: message, found: context.found };
      const fields = { requestId: requestIdOf(request), flow, reason, ...values };
      this.logger.warn(fields, requestRefusalLine(WORK[flow].work, reason, values));
    }
    return { status, error: endpoint === 'embed' ? embed : oauth, message, headers };
  }

  private fault(error: unknown, { endpoint, flow, request }: Place): Refused {
    const requestId = requestIdOf(request);
    this.logger.error({ err: error, requestId }, `${WORK[flow].work} failed because of an internal error`);
    return FAULT[endpoint === 'embed' ? 'embed' : 'oauth'];
  }

  /**
   * The error of an embedded login. The answer to a bad proof has the database's time and the nonce, so that a page with a wrong
   * clock can repeat its request (D141).
   * @rule 7.9 A failure is always a JSON answer, never a redirect.
   */
  private asLogin({ status, error, message, headers }: Refused): HttpAnswer {
    if (!isAboutProof(error)) return { status, headers, body: { error, message } };
    const nonce = this.proofs.nonce();
    const withNonce = nonce === undefined ? headers : { ...headers, 'dpop-nonce': nonce };
    return { status, headers: withNonce, body: { error, message, serverTime: this.proofs.time() } };
  }
}

/**
 * A client that does not authenticate gets the supported methods (RFC 6749 §5.2). An invalid assertion or claim gives
 * `invalid_grant` (RFC 7523 §3.1).
 */
function refusedToken({ reason }: RefusedToken, { endpoint, flow }: Place): Refused {
  if (endpoint === 'logout') return LOGOUT_REFUSED;
  if (endpoint === 'explain') return NOT_EXPLAINED;
  if (endpoint === 'signals') return eventAnswerOf(reason);
  if (endpoint === 'embed') return loginAnswerOf(reason);
  const isOfClaims = isOfAssertion(flow) && reason === 'claims_invalid';
  const refused = oauthAnswerOf(isOfClaims ? 'token_malformed' : reason);
  return refused.error === 'invalid_client' ? { ...refused, headers: CHALLENGE } : refused;
}

/**
 * RFC 6749 §5.2. The body of a 501 suits clients that read OAuth errors and clients that read `message` (D20). Of an event RFC 8935 §2.4.
 */
function asOAuth(
  { status, error, message, headers }: Refused,
  thrown: unknown,
  endpoint: Endpoint,
): HttpAnswer {
  const reason = isRequestRefusal(thrown) ? thrown.reason : undefined;
  if (reason === 'not_available') return { status, headers, body: NOT_FOUND };
  if (endpoint === 'signals')
    return {
      status,
      headers: { ...headers, 'content-language': 'en' },
      body: { err: error, description: message },
    };
  const body = { error, error_description: message };
  return { status, headers, body: reason === 'not_enabled' ? { ...body, message } : body };
}

/** The filter of an endpoint's controller. */
export function errorFilterOf(endpoint: Endpoint): Type<ExceptionFilter> {
  @Catch()
  class EndpointErrorFilter extends FlowErrorFilter {
    protected override readonly endpoint = endpoint;
  }
  return EndpointErrorFilter;
}

const WORDS: Readonly<Record<number, string>> = {
  [HttpStatus.UNAUTHORIZED]: 'unauthorized',
  [HttpStatus.FORBIDDEN]: 'forbidden',
  [HttpStatus.NOT_FOUND]: 'not_found',
  [HttpStatus.TOO_MANY_REQUESTS]: 'too_many_requests',
  [HttpStatus.SERVICE_UNAVAILABLE]: 'temporarily_unavailable',
};

/** The answer of Nest's own exceptions, also from a host's guards. Undefined for any other error, which is a fault. */
export function hostRefusalOf(error: unknown): Refused | undefined {
  if (!(error instanceof HttpException)) return undefined;
  const status = error.getStatus();
  const word = WORDS[status] ?? (status < 500 ? 'refused' : 'internal_error');
  const isForLater = error instanceof TemporarilyUnavailableException;
  const headers = isForLater ? { 'retry-after': String(error.retryAfterSeconds) } : undefined;
  return { status, error: word, message: error.message, headers };
}
