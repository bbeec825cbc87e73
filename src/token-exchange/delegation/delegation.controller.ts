// POST /rest/auth/oauth/token (RFC 8693).
import { Body, Controller, HttpCode, Post, Req, UseFilters, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  ExchangeEnabledGuard,
  ExchangeThrottlerGuard,
  FormOnlyGuard,
  LicensedGuard,
} from '../edge/flow.guards.js';
import { DelegationService } from './delegation.service.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import type { TokenExchangeForm } from './token-exchange.form.js';
import { TokenExchangeFormPipe } from './token-exchange.form.js';

/** The success answer (2.4). */
export interface TokenExchangeAnswer {
  access_token: string;
  token_type: 'Bearer';
  /** Whole seconds. */
  expires_in: number;
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token';
}

/** The token endpoint. */
export const TOKEN_PATH = '/rest/auth/oauth/token';

@Controller()
@UseFilters(OAuthErrorFilter)
export class DelegationController {
  constructor(private readonly delegation: DelegationService) {}

  /**
   * @rule 4.2 Token exchange is a form POST and succeeds with 200.
   * @rule 2.4.1 The answer names the token, its type and its life.
   * @rule 5.4 Nobody asks for a credential here, nor at embedded login: the external token is the only one.
   */
  @Post(TOKEN_PATH)
  @HttpCode(200)
  @UseGuards(LicensedGuard, ExchangeThrottlerGuard, ExchangeEnabledGuard, FormOnlyGuard)
  async exchange(
    @Body(TokenExchangeFormPipe) { subjectToken, actorToken, scope, resources }: TokenExchangeForm,
    @Req() { id }: FastifyRequest,
  ): Promise<TokenExchangeAnswer> {
    const { accessToken, lifetimeSeconds } = await this.delegation.exchange({
      subjectToken,
      actorToken,
      scope,
      resource: resources,
      requestId: id,
    });
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: lifetimeSeconds,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
  }
}
