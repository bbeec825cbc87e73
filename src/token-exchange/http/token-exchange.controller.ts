// POST /rest/auth/oauth/token (RFC 8693).
import { Post, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import {
  AvailableGuard,
  ClockGuard,
  ExchangeEnabledGuard,
  ExchangeThrottlerGuard,
  FormOnlyGuard,
} from './flow.guards.js';
import { FormBodies } from './form-bodies.js';
import { FlowRunner } from './flow.runner.js';
import type { FlowRequest } from '../flows/flow-request.js';
import { RevocationsKnownGuard } from './revocations-known.guard.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { ENDPOINTS } from './paths.js';
import { TokenExchangeService } from '../flows/token-exchange.service.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { rateLimitHeaders } from '../../platform/http/throttle/rate-limit.js';
import { readTokenExchangeForm } from './token-exchange.form.js';
import { TokenTypeWarning } from './token-type.warning.js';

/** The success answer (2.4). */
export interface TokenExchangeAnswer {
  access_token: string;
  token_type: 'Bearer';
  /** Whole seconds. */
  expires_in: number;
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token';
  /** What is granted, where it is limited (RFC 6749 §5.1). */
  scope?: string;
}

@UseFilters(OAuthErrorFilter)
export class TokenExchangeController {
  constructor(
    private readonly flows: FlowRunner,
    private readonly exchanges: TokenExchangeService,
    private readonly bodies: FormBodies,
    private readonly answers: HttpAnswers,
    private readonly types: TokenTypeWarning,
  ) {}

  /**
   * @rule 4.2 Token exchange is a form POST and succeeds with 200.
   * @rule 2.4.1 The answer names the token, its type and its life.
   * @rule 5.4 Nobody asks for a credential here, nor at embedded login: the external token is the only one.
   */
  @Post(ENDPOINTS.exchange)
  @UseGuards(
    AvailableGuard,
    ExchangeThrottlerGuard,
    ExchangeEnabledGuard,
    FormOnlyGuard,
    RevocationsKnownGuard,
    ClockGuard,
  )
  async exchange(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const answer = await this.flows.run('exchange', request, (received) => this.answer(request, received));
    this.answers.reply(request, response, answer);
  }

  private async answer(request: HttpRequest, received: FlowRequest): Promise<HttpAnswer> {
    const { subjectToken, actorToken, scope, resources, otherTypes } = readTokenExchangeForm(
      this.bodies.bytesOf(request),
    );
    for (const type of otherTypes ?? []) this.types.warn(type, received.requestId);
    const { accessToken, lifetimeSeconds, grantedScopes, rateLimit } = await this.exchanges.exchange(
      { subjectToken, actorToken, scope, resource: resources },
      received,
    );
    const body: TokenExchangeAnswer = {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: lifetimeSeconds,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: grantedScopes?.join(' '),
    };
    return { status: 200, headers: rateLimit && rateLimitHeaders(rateLimit), body };
  }
}
