// POST /rest/auth/oauth/revoke (RFC 7009).
import { Post, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { AvailableGuard, FormOnlyGuard } from './flow.guards.js';
import { FormBodies } from './form-bodies.js';
import { ENDPOINTS } from './paths.js';
import { RevocationsKnownGuard } from './revocations-known.guard.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import { waitedMs } from '../../platform/http/request-wait.js';
import { TokenRevocationErrorFilter } from './token-revocation.filter.js';
import { readTokenRevocationForm } from './token-revocation.form.js';
import { TokenRevocationEnabledGuard, TokenRevocationThrottlerGuard } from './token-revocation.guards.js';
import { TokenRevocationService } from '../../token-exchange/tokens/token-revocation.service.js';

@UseFilters(TokenRevocationErrorFilter)
@UseGuards(
  AvailableGuard,
  TokenRevocationThrottlerGuard,
  TokenRevocationEnabledGuard,
  FormOnlyGuard,
  RevocationsKnownGuard,
)
export class TokenRevocationController {
  constructor(
    private readonly tokens: TokenRevocationService,
    private readonly bodies: FormBodies,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.revocation)
  async revoke(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const token = readTokenRevocationForm(this.bodies.bytesOf(request));
    await this.tokens.end(token, requestIdOf(request), waitedMs(request));
    // Nobody learns whether there was such a token (RFC 7009 §2.2).
    this.answers.reply(request, response, { status: 200 });
  }
}
