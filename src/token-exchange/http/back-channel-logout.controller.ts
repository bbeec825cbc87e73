// POST /rest/auth/backchannel-logout (OpenID Connect Back-Channel Logout 1.0).
import { Catch, Post, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { BackChannelLogoutService } from '../flows/back-channel-logout.service.js';
import {
  AvailableGuard,
  ClockGuard,
  FormOnlyGuard,
  RevocationsKnownGuard,
  throttlerOf,
} from './flow.guards.js';
import { invalidField } from './flow-refusal.js';
import { FlowRunner } from './flow.runner.js';
import { Form } from './form.js';
import { FormBodies } from './form-bodies.js';
import { OAuthErrorFilter } from './refusal.filter.js';
import { ENDPOINTS } from './paths.js';
import type { Refused } from './refusal.filter.js';
import type { HttpAnswer, HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { Rejection } from '../refusals/rejection.js';

/** Logouts per client address and minute, before their tokens are looked at; those that are verified are counted by issuer too. */
const LogoutThrottlerGuard = throttlerOf('logout', ({ logout }) => logout.perMinute);

/** Every refused logout token gets the same 400 (§2.8; D130): only the log and the audit trail have the cause. */
@Catch()
export class LogoutErrorFilter extends OAuthErrorFilter {
  protected override readonly flow = 'logout';

  protected override written(refused: Refused, request: HttpRequest, thrown: unknown): HttpAnswer {
    if (!(thrown instanceof Rejection)) return super.written(refused, request, thrown);
    const body = { error: 'invalid_request', error_description: 'Logout token validation failed' };
    return { status: 400, body };
  }
}

@UseFilters(LogoutErrorFilter)
@UseGuards(AvailableGuard, LogoutThrottlerGuard, FormOnlyGuard, RevocationsKnownGuard, ClockGuard)
export class BackChannelLogoutController {
  constructor(
    private readonly flows: FlowRunner,
    private readonly logouts: BackChannelLogoutService,
    private readonly bodies: FormBodies,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.logout)
  async logOut(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    await this.flows.run('logout', request, (received) => {
      const token = Form.read(this.bodies.bytesOf(request)).wellFormed().trimmed('logout_token');
      if (token === '') throw invalidField('logout_token is required');
      return this.logouts.logOut(token, received);
    });
    this.answers.reply(request, response, { status: 200 });
  }
}
