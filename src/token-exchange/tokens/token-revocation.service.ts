// Token revocation: the holder of an access token may end it.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { withinWait } from '../../platform/database/wait-limit.js';
import { RevocationService } from '../revocation/revocation.service.js';
import { AccessTokenService } from './access-token.service.js';

@Injectable()
export class TokenRevocationService {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly revocations: RevocationService,
    private readonly database: Database,
  ) {}

  /**
   * Ends the token if it is a live one of this instance. Any other text is useless already.
   * @param waitedMs what the request has waited for the database so far
   * @rule D61 The holder of an access token may end it, on all instances; the token is the only credential.
   */
  end(token: string, requestId: string, waitedMs = 0): Promise<void> {
    return withinWait(this.database.waitMs - waitedMs, async () => {
      const live = await this.accessTokens.verify(token);
      if (live !== undefined) await this.revocations.endToken(live, requestId);
    });
  }
}
