// Writes what ends a token exchange as an OAuth error (RFC 6749 §5.2).
import { Catch } from '@nestjs/common';
import { Rejection } from '../refusals/rejection.js';
import { TOKEN_REFUSALS } from '../refusals/token-refusals.js';
import { FlowRefusal } from './flow-refusal.js';
import { WORK } from './flow.runner.js';
import { flowOf } from './grant-types.js';
import type { Refused } from './refusal.filter.js';
import { RefusalFilter } from './refusal.filter.js';
import type { ThrottledFlow } from '../host/telemetry.js';
import { NOT_FOUND } from '../../platform/http/answers.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';

@Catch()
export class OAuthErrorFilter extends RefusalFilter {
  protected readonly endpoint = 'oauth';
  protected flowOf(request: HttpRequest): ThrottledFlow {
    return flowOf(request);
  }

  protected workOf(request: HttpRequest): string {
    return WORK[flowOf(request)];
  }

  /** @rule D17 The body of the 501 serves clients that read OAuth errors and clients that read `message`. */
  protected override written(refused: Refused, request: HttpRequest, thrown: unknown): HttpAnswer {
    const { status, error, message, headers } = asRfc7523(refused, request, thrown);
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
function asRfc7523(refused: Refused, request: HttpRequest, thrown: unknown): Refused {
  if (refused.error === 'invalid_client') return { ...refused, headers: CHALLENGE };
  const isOfClaims = thrown instanceof Rejection && thrown.reason === 'claims_invalid';
  return isOfClaims && flowOf(request) === 'id-jag' ? TOKEN_REFUSALS.token_malformed.oauth : refused;
}

const CHALLENGE = { 'www-authenticate': 'Basic realm="token"' };
