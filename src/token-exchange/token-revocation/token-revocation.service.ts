// Token revocation: whoever holds an access token may end it.
import { Injectable } from '@nestjs/common';
import { AccessTokenIssuer } from '../host.js';
import { RevocationService } from '../revocation/revocation.service.js';

@Injectable()
export class TokenRevocationService {
  constructor(
    private readonly accessTokens: AccessTokenIssuer,
    private readonly revocations: RevocationService,
  ) {}

  /** False where the host has access tokens of its own that it cannot find by their text. */
  get isOffered(): boolean {
    return this.accessTokens.findLive !== undefined;
  }

  /**
   * Ends the token if it is a live one of ours. Everything else is as it shall be: nobody can use it.
   * @rule D61 Who holds an access token may end it, on all instances; to hold it is the only credential.
   */
  async end(token: string, requestId: string): Promise<void> {
    const live = await this.accessTokens.findLive?.(token);
    if (live !== undefined) await this.revocations.endToken(live, requestId);
  }
}
