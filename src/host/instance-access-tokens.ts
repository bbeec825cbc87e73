// The port to access tokens, on those that this instance signs and takes.
import { Injectable } from '@nestjs/common';
import { AccessTokenService } from '../access/access-token.service.js';
import type { AccessTokenSigner } from '../token-exchange/host.js';
import { AccessTokenIssuer } from '../token-exchange/host.js';

@Injectable()
export class InstanceAccessTokens extends AccessTokenIssuer {
  constructor(private readonly accessTokens: AccessTokenService) {
    super();
  }

  prepare(): AccessTokenSigner {
    return this.accessTokens.prepare();
  }
}
