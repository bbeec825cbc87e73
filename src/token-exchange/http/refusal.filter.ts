// Turns each error of the endpoints into an answer and a log line; flow.runner.ts has recorded it.
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Inject, Injectable, Catch } from '@nestjs/common';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { ThrottledFlow } from '../host/telemetry.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import { hostRefusalOf } from '../../platform/http/host-refusal.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers, requestOf } from '../../platform/http/http-answers.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import { flowRefusalLine } from '../refusals/refusal-line.js';
import type { EndpointAnswer } from '../refusals/refusals.js';
import { FAULT, REQUEST_REFUSALS } from '../refusals/refusals.js';
import { Rejection } from '../refusals/rejection.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { TOKEN_REFUSALS } from '../refusals/token-refusals.js';
import { FlowRefusal } from './flow-refusal.js';
import { NOT_FOUND } from '../../platform/http/answers.js';

/** How the log calls what was refused. */
export const WORK: Readonly<Record<ThrottledFlow, string>> = {
  exchange: 'a token exchange',
  embed: 'an embedded login',
  'id-jag': 'an identity assertion',
  'jwt-bearer': 'an assertion',
  logout: 'a back-channel logout',
  revocation: 'a token revocation',
};

const FLOW = Symbol('the flow of a request');

type Marked = HttpRequest & { [FLOW]?: ThrottledFlow };

/** Says of which flow a request is: the token endpoint has several. */
export function markFlow(request: Marked, flow: ThrottledFlow): void {
  request[FLOW] = flow;
}

/** The answer to the client, before the endpoint writes it in its form. */
export interface Refused extends Required<EndpointAnswer> {
  readonly headers?: HttpAnswer['headers'];
}

@Injectable()
export abstract class RefusalFilter implements ExceptionFilter {
  /** Which answers of the catalogue are this endpoint's. */
  protected abstract readonly endpoint: 'oauth' | 'embed';
  /** In metrics and in the log, of a request that is refused before it is marked. */
  protected abstract readonly flow: ThrottledFlow;

  constructor(
    @Inject(LOGGER) private readonly logger: Log,
    private readonly telemetry: ExchangeTelemetry,
    private readonly answers: HttpAnswers,
    private readonly outages: DatabaseOutages,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = requestOf(host);
    const error = this.outages.refusalOf(thrown, this.flowOf(request));
    const refused = this.answerTo(error, request);
    this.answers.send(host, this.written(refused, request, error));
  }

  protected flowOf({ [FLOW]: flow = this.flow }: Marked): ThrottledFlow {
    return flow;
  }

  protected abstract written(refused: Refused, request: HttpRequest, error: unknown): HttpAnswer;

  private answerTo(error: unknown, request: HttpRequest): Refused {
    if (error instanceof Rejection)
      return { error: error.reason, ...TOKEN_REFUSALS[error.reason][this.endpoint] };
    if (error instanceof FlowRefusal) {
      this.telemetry.countRefusal(this.flowOf(request), error.kind);
      this.warnOf(error, request);
      const { status, oauth = 'invalid_request', embed = error.kind } = REQUEST_REFUSALS[error.kind];
      const word = this.endpoint === 'oauth' ? oauth : embed;
      return { status, error: word, message: error.message, headers: error.headers };
    }
    if (error instanceof TooManyRequestsError) {
      this.telemetry.countThrottled(this.flowOf(request));
      const { message, headers } = error;
      return { status: 429, error: 'too_many_requests', message, headers };
    }
    const refusal = hostRefusalOf(error);
    if (refusal === undefined) return this.faultOf(error, request);
    this.telemetry.countRefusal(this.flowOf(request), refusal.error);
    return refusal;
  }

  /** @rule D79 A refused form is a warning with its request id, and no record in the trail. */
  private warnOf({ kind, message: detail, found }: FlowRefusal, request: HttpRequest): void {
    if (REQUEST_REFUSALS[kind].isSilent) return;
    const requestId = requestIdOf(request);
    const fields = { requestId, flow: this.flowOf(request), reason: kind, detail, found };
    this.logger.warn(fields, flowRefusalLine(WORK[this.flowOf(request)], kind, { detail, found }));
  }

  private faultOf(error: unknown, request: HttpRequest): Refused {
    const requestId = requestIdOf(request);
    this.logger.error(
      { err: error, requestId },
      `${WORK[this.flowOf(request)]} failed by a fault of the service`,
    );
    return FAULT[this.endpoint];
  }
}

/** Writes what ends a token exchange as an OAuth error (RFC 6749 §5.2). */
@Catch()
export class OAuthErrorFilter extends RefusalFilter {
  protected readonly endpoint = 'oauth';
  protected readonly flow: ThrottledFlow = 'exchange';

  /** @rule D17 The body of the 501 serves clients that read OAuth errors and clients that read `message`. */
  protected override written(refused: Refused, request: HttpRequest, thrown: unknown): HttpAnswer {
    const { status, error, message, headers } = asRfc7523(refused, this.flowOf(request), thrown);
    const kind = thrown instanceof FlowRefusal ? thrown.kind : undefined;
    if (kind === 'not_available') return { status, headers, body: NOT_FOUND };
    const body = { error, error_description: message };
    return { status, headers, body: kind === 'not_enabled' ? { ...body, message } : body };
  }
}

/**
 * A client that does not authenticate gets the ways to do so (RFC 6749 §5.2); a faulty assertion or claim is `invalid_grant` (RFC
 * 7523 §3.1).
 */
function asRfc7523(refused: Refused, flow: ThrottledFlow, thrown: unknown): Refused {
  if (refused.error === 'invalid_client') return { ...refused, headers: CHALLENGE };
  const isOfClaims = thrown instanceof Rejection && thrown.reason === 'claims_invalid';
  const isOfAssertion = flow === 'id-jag' || flow === 'jwt-bearer';
  return isOfClaims && isOfAssertion ? TOKEN_REFUSALS.token_malformed.oauth : refused;
}

const CHALLENGE = { 'www-authenticate': 'Basic realm="token"' };
