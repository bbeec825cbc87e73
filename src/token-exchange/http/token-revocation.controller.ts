// POST /rest/auth/oauth/revoke (RFC 7009).
import { Post, Req, Res } from '@nestjs/common';
import { FlowEndpoint } from './flow.endpoints.js';
import { ENDPOINTS } from './paths.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers, waitedMs } from '../../platform/http/http-answers.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import { FlowRefusal } from '../refusals/rejection.js';
import { Form } from './form.js';
import { Database } from '../../platform/database/database.js';
import { withinWait } from '../../platform/database/wait-limit.js';
import { RevocationService } from '../revocation/revocation.service.js';
import { AccessTokenService } from '../tokens/access-token.service.js';

/**
 * The token; `token_type_hint` is of no help where there is one type, and every other field is ignored.
 * @throws FlowRefusal `token_missing` or `field_invalid`
 */
function readTokenRevocationForm(sent: unknown): string {
  const token = new Form(sent, { token: {} }).wellFormed().trimmed('token');
  if (token === '') throw new FlowRefusal('token_missing', 'token is required');
  return token;
}

@FlowEndpoint('revocation')
export class TokenRevocationController {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly revocations: RevocationService,
    private readonly database: Database,
    private readonly answers: HttpAnswers,
  ) {}

  /**
   * Ends the token if it is a live one of this instance. Any other text is useless already.
   * @rule D61 The holder of an access token may end it, on all instances; the token is the only credential. See
   * introspection.service.ts for who may ask about it.
   */
  @Post(ENDPOINTS.revocation)
  async revoke(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const token = readTokenRevocationForm(request.body);
    await withinWait(this.database.waitMs - (waitedMs(request) ?? 0), async () => {
      const verdict = await this.accessTokens.check(token);
      if ('token' in verdict) await this.revocations.endToken(verdict.token, requestIdOf(request));
    });
    // The answer does not show whether there was such a token (RFC 7009 §2.2).
    this.answers.reply(request, response, { status: 200, body: {} });
  }
}
