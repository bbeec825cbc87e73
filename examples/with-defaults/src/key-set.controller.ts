// Publishes the public keys of access tokens, by which other services of the product can verify them.
import { AccessTokenService } from '@embedded-token-exchange/nestjs';
import { Controller, Get } from '@nestjs/common';

@Controller('.well-known')
export class KeySetController {
  constructor(private readonly accessTokens: AccessTokenService) {}

  @Get('jwks.json')
  keySet() {
    return this.accessTokens.publicKeys();
  }
}
