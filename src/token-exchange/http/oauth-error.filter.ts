// Writes what ends a token exchange as an OAuth error (RFC 6749 §5.2).
import { Catch } from '@nestjs/common';
import { FlowRefusal } from './flow-refusal.js';
import type { Refused } from './refusal.filter.js';
import { RefusalFilter } from './refusal.filter.js';
import type { ThrottledFlow } from '../host/telemetry.js';
import { NOT_FOUND } from '../../platform/http/answers.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';

@Catch()
export class OAuthErrorFilter extends RefusalFilter {
  protected readonly endpoint = 'oauth';
  protected readonly flow: ThrottledFlow = 'exchange';
  protected readonly work: string = 'a token exchange';

  /** @rule D17 The body of the 501 serves clients that read OAuth errors and clients that read `message`. */
  protected override written(refused: Refused, _request: HttpRequest, thrown: unknown): HttpAnswer {
    const { status, error, message, headers } = refused;
    const kind = thrown instanceof FlowRefusal ? thrown.kind : undefined;
    if (kind === 'not_available') return { status, headers, body: NOT_FOUND };
    const body = { error, error_description: message };
    return { status, headers, body: kind === 'not_enabled' ? { ...body, message } : body };
  }
}
