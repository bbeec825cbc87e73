// POST /rest/auth/backchannel-logout (OpenID Connect Back-Channel Logout 1.0).
import { Post, Req, Res } from '@nestjs/common';
import { BackChannelLogoutService } from './back-channel-logout.service.js';
import { FlowEndpoint } from '../endpoint/flow.endpoints.js';
import { invalidField } from '../refusals/oauth-refusal.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { Form } from '../endpoint/form.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';

@FlowEndpoint('logout')
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
