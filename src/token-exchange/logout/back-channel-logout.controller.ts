// POST /rest/auth/backchannel-logout (OpenID Connect Back-Channel Logout 1.0).
import { Post, Req, Res, UseGuards } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import {
  AvailableGuard,
  ClockGuard,
  FlowEndpoint,
  FormGuard,
  RevocationsKnownGuard,
  throttleGuardOf,
  WaitGuard,
} from '../endpoint/flow.endpoints.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { Form } from '../endpoint/form.js';
import {
  answer,
  answerForLater,
  COMMON_REFUSALS,
  formBody,
  OAUTH_ERROR,
} from '../endpoint/oauth.description.js';
import { invalidField } from '../refusals/oauth-refusal.js';
import { BackChannelLogoutService } from './back-channel-logout.service.js';

const LOGOUT_FORM = {
  type: 'object',
  required: ['logout_token'],
  properties: {
    logout_token: {
      type: 'string',
      minLength: 1,
      description:
        'A signed JWT with iss, aud, iat, jti, sub or sid, and events with the one member http://schemas.openid.net/event/backchannel-logout.',
    },
  },
};

export const BACK_CHANNEL_LOGOUT = {
  operationId: 'BackChannelLogout_logOut',
  tags: ['Tokens'],
  summary: 'End sessions and access tokens of a signed-out user (OpenID Connect Back-Channel Logout 1.0)',
  description:
    'For providers and partners. Ends sessions and access tokens of the same issuer: with sid those of one session at the provider, with sub alone all of the user. The logout token is the only credential and works once.',
  security: [],
  requestBody: formBody(LOGOUT_FORM),
  responses: {
    200: { description: 'The sessions and access tokens have ended, now or before; the answer is empty' },
    400: answer('The token or the form is refused: invalid_request', OAUTH_ERROR),
    ...COMMON_REFUSALS,
    429: answerForLater('The address or the issuer made too many requests within a minute'),
    503: answerForLater(
      'The instance cannot reach its database: temporarily_unavailable; send the same token again',
    ),
  },
};

@FlowEndpoint('logout')
@UseGuards(WaitGuard, AvailableGuard, throttleGuardOf('logout'), FormGuard, RevocationsKnownGuard, ClockGuard)
export class BackChannelLogoutController {
  constructor(
    private readonly flows: FlowRunner,
    private readonly logouts: BackChannelLogoutService,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.logout.path)
  async logOut(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    await this.flows.run('logout', request, (received) => {
      const token = new Form(request.body, { logout_token: {} }).wellFormed().trimmed('logout_token');
      if (token === '') throw invalidField('logout_token is required');
      return this.logouts.logOut(token, received);
    });
    this.answers.reply(request, response, { status: 200 });
  }
}
