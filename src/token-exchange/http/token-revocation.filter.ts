// Turns whatever ends a token revocation into the OAuth answer for it (RFC 7009 §2.2.1).
import { Catch } from '@nestjs/common';
import type { ThrottledFlow } from '../host/telemetry.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';

/** The answers are those of the token endpoint; what counts and logs them has another name. */
@Catch()
export class TokenRevocationErrorFilter extends OAuthErrorFilter {
  protected override flowOf(): ThrottledFlow {
    return 'revocation';
  }

  protected override workOf(): string {
    return 'a token revocation';
  }
}
