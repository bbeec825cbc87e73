// The port to access tokens, on those that this instance signs and takes.
import { Injectable } from '@nestjs/common';
import type { AccessTokenClaims } from '../access/access-token.service.js';
import { AccessTokenService } from '../access/access-token.service.js';
import type { AccessTokenGrant, AccessTokenSigner } from '../token-exchange/host.js';
import { AccessTokenIssuer } from '../token-exchange/host.js';

@Injectable()
export class InstanceAccessTokens extends AccessTokenIssuer {
  constructor(private readonly accessTokens: AccessTokenService) {
    super();
  }

  prepare(): AccessTokenSigner {
    const sign = this.accessTokens.prepare();
    return (grant) => ({ token: sign(claimsOf(grant)) });
  }
}

/**
 * A member that is undefined is not written.
 * @rule 2.4 The token records the requested scope and resource.
 * @rule D55 Under names of our own: a `scope` or another `aud` would read as granted to every other service.
 */
function claimsOf(grant: AccessTokenGrant): AccessTokenClaims {
  return {
    sub: grant.subjectUserId,
    act: grant.actorUserId === undefined ? undefined : { sub: grant.actorUserId },
    client_id: grant.clientId,
    requested_scope: grant.requestedScope,
    requested_resource: grant.requestedResource,
    jti: grant.id,
    iat: grant.issuedAt,
    exp: grant.expiresAt,
  };
}
