// Token introspection (RFC 7662): tells clients and services whether an access token is still valid.
import { Inject, Injectable } from '@nestjs/common';
import type { JWTPayload } from 'jose';
import { decodeJwt } from 'jose/jwt/decode';
import { Database } from '../../platform/database/database.js';
import { Transaction } from '../../platform/database/transaction.js';
import { printable } from '../../platform/text/printable.js';
import type { AuthenticatedClient, ClientCredentials } from '../assertions/client-authenticator.js';
import { ClientAuthenticator } from '../assertions/client-authenticator.js';
import type { ClientRequest } from '../endpoint/flow.runner.js';
import { UserDirectory } from '../host/users.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import { JtiRepository } from '../replay/jti.repository.js';
import { readRecordedKeys } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import { callerOf } from '../tokens/caller.js';

/** The response (RFC 7662 §2.2): the claims of a valid token, or that the token is not active. */
export type Introspection = { readonly active: false } | ({ readonly active: true } & JWTPayload);

/** A request for introspection. Its properties are secret. */
export interface IntrospectionRequest {
  readonly token: string;
  readonly client: ClientCredentials | undefined;
}

const RETURNED_CLAIMS = ['scope', 'client_id', 'sub', 'act', 'cnf', 'aud', 'iss', 'exp', 'iat', 'jti'];

@Injectable()
export class IntrospectionService {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly jtis: JtiRepository,
    private readonly accessTokens: AccessTokenService,
    private readonly users: UserDirectory,
    private readonly database: Database,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {}

  /**
   * A client may introspect its own access tokens. If an entry allows it, it may also introspect tokens for that entry's services (D61).
   * @throws OAuthRefusal for a client that does not authenticate or may not ask
   */
  async introspect(
    { token, client: sent }: IntrospectionRequest,
    request: ClientRequest,
  ): Promise<Introspection> {
    const client = await this.clients.authenticateOnce(sent, (use) =>
      request.inTime(() => this.jtis.useAlone(use)),
    );
    if (client.introspects === undefined)
      throw new OAuthRefusal('introspection_not_allowed', { clientId: printable(client.id) });
    return request.inTime(() => this.responseFor(token, client));
  }

  /**
   * Gives the same answer for invalid tokens and for tokens that the client may not introspect, so that nobody learns about others' tokens.
   */
  private async responseFor(token: string, client: AuthenticatedClient): Promise<Introspection> {
    // Reading needs no transaction.
    const reading = Transaction.none(this.database);
    const verdict = await this.accessTokens.check(token, true);
    const caller = await callerOf(verdict, (id) => this.users.findById(reading, id), this.options.roles);
    if ('refusal' in caller) return { active: false };
    const claims = decodeJwt(token);
    if (!mayKnow(client, claims)) return { active: false };
    return {
      active: true,
      token_type: claims['cnf'] === undefined ? 'Bearer' : 'DPoP',
      ...Object.fromEntries(Object.entries(claims).filter(([name]) => RETURNED_CLAIMS.includes(name))),
    };
  }
}

/**
 * A token belongs to the entries of its subject and actor. Two companies may use one client id and list one service, so a client
 * gets the claims only of tokens that its own entries signed for.
 */
function mayKnow({ id, issuers, introspects }: AuthenticatedClient, claims: JWTPayload): boolean {
  const { aud, client_id: clientId, vouched_by: recorded } = claims;
  const isVouchedBy = (isAllowed: (issuer: string) => boolean | undefined) =>
    readRecordedKeys(recorded)?.every(({ issuer }) => isAllowed(issuer)) === true;
  const isOwn = clientId === id && isVouchedBy((issuer) => issuers.has(issuer));
  return isOwn || isVouchedBy((issuer) => introspects?.get(issuer)?.has(String(aud)));
}
