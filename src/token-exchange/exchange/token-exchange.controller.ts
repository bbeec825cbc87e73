// POST /rest/auth/oauth/token (RFC 8693, RFC 7523).
import { Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import { isOver, MemoryCounts, rateLimitHeaders } from '../../platform/http/throttle/rate-limit.js';
import type { RedeemedAssertion } from '../assertions/id-assertion.service.js';
import { IdAssertionService } from '../assertions/id-assertion.service.js';
import { DpopProofs, provingRequestOf } from '../dpop/dpop-proofs.js';
import {
  AvailableGuard,
  ClockGuard,
  enabledGuardOf,
  FlowEndpoint,
  FormGuard,
  RevocationsKnownGuard,
  throttleGuardOf,
  WaitGuard,
} from '../endpoint/flow.endpoints.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import type { AssertionFlow } from '../endpoint/flows.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import { Notices } from './notices.js';
import type { GrantRules, OtherTokenType, TokenForm } from './token-exchange.form.js';
import {
  readAssertionForm,
  readGrantType,
  readTokenExchangeForm,
  readTokenForm,
} from './token-exchange.form.js';
import { TokenExchangeService } from './token-exchange.service.js';

const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';

@FlowEndpoint('exchange')
@UseGuards(
  WaitGuard,
  AvailableGuard,
  throttleGuardOf('exchange'),
  enabledGuardOf('exchange'),
  FormGuard,
  RevocationsKnownGuard,
  ClockGuard,
)
export class TokenExchangeController {
  private readonly grants: GrantRules;

  constructor(
    private readonly flows: FlowRunner,
    private readonly exchanges: TokenExchangeService,
    private readonly assertions: IdAssertionService,
    private readonly answers: HttpAnswers,
    private readonly notices: Notices,
    private readonly counts: MemoryCounts,
    private readonly proofs: DpopProofs,
    keys: TrustedKeyService,
    @Inject(TOKEN_EXCHANGE_OPTIONS) switches: Pick<TokenExchangeOptions, 'exchange' | 'idAssertion'>,
  ) {
    this.grants = { switches, takesPlainJwts: () => keys.allow('jwt-bearer') };
  }

  /**
   * @rule 4.2 Token exchange is a form POST and succeeds with 200.
   * @rule 2.4.1 = 2.4.2 = 2.4.3 = 2.4.4 The answer has the token, its type and its lifetime.
   * @rule 5.4 A token exchange, like an embedded login, needs no credential but the external token.
   */
  @Post(ENDPOINTS.exchange.path)
  async token(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const form = readTokenForm(request.body);
    const flow = readGrantType(form, this.grants);
    const answer = await this.flows.run(flow, request, (received) =>
      flow === 'exchange'
        ? this.exchange(form, received, request)
        : this.redeem(flow, form, received, request),
    );
    this.answers.reply(request, response, answer);
  }

  private async exchange(form: TokenForm, received: FlowRequest, request: HttpRequest): Promise<HttpAnswer> {
    const sent = readTokenExchangeForm(form);
    for (const type of sent.otherTypes ?? []) this.warnOfType(type, received.requestId);
    const proving = provingRequestOf(request);
    return this.success(await this.exchanges.exchange({ proving, ...sent }, received), ACCESS_TOKEN_TYPE);
  }

  /**
   * Warns of a token type that other servers would refuse. Once a minute at most, because a client causes it with every request.
   */
  private warnOfType({ field, expected, found }: OtherTokenType, requestId: string): void {
    if (isOver(this.counts, `warning ${field}`, 1)) return;
    this.notices.warn('token_type_ignored', { flow: 'exchange', requestId, detail: field, expected, found });
  }

  private async redeem(
    flow: AssertionFlow,
    form: TokenForm,
    received: FlowRequest,
    request: HttpRequest,
  ): Promise<HttpAnswer> {
    const sent = readAssertionForm(form, request.headers.authorization);
    const proving = provingRequestOf(request);
    return this.success(await this.assertions.redeem({ flow, ...sent, proving }, received));
  }

  /** 2.4; RFC 6749 §5.1, RFC 9449 §5. @param issuedTokenType of a token exchange */
  private success(
    { accessToken, lifetimeSeconds, grantedScopes, resource, isBound, rateLimit }: RedeemedAssertion,
    issuedTokenType?: string,
  ): HttpAnswer {
    const body = {
      access_token: accessToken,
      token_type: isBound ? 'DPoP' : 'Bearer',
      expires_in: lifetimeSeconds,
      issued_token_type: issuedTokenType,
      scope: grantedScopes?.join(' '),
      resource,
    };
    const nonce = isBound ? this.proofs.nonce() : undefined;
    const headers = {
      ...(rateLimit && rateLimitHeaders(rateLimit)),
      ...(nonce !== undefined && { 'dpop-nonce': nonce }),
    };
    return { status: 200, headers, body };
  }
}
