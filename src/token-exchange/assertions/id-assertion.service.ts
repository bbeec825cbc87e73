// Assertions (RFC 7523): an ID-JAG (draft-ietf-oauth-identity-assertion-authz-grant) or an ordinary JWT of a trusted issuer is
// exchanged for an access token.
import { Injectable } from '@nestjs/common';
import { DpopProofs } from '../dpop/dpop-proofs.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import { askedOf } from '../exchange/issuance.planner.js';
import type { AskedIssuance, ExchangeResult } from '../exchange/token-exchange.service.js';
import { TokenExchangeService } from '../exchange/token-exchange.service.js';
import { JtiRepository } from '../replay/jti.repository.js';
import { Revocations } from '../revocation/revocations.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import type { ReceivedAssertion } from '../verify/external-token.verifier.js';
import { ExternalTokenVerifier, verifyAssertion } from '../verify/external-token.verifier.js';
import type { AuthenticatedClient, ClientCredentials } from './client-authenticator.js';
import { ClientAuthenticator } from './client-authenticator.js';

/** An assertion as sent by a client. Secret. */
export interface SentAssertion extends AskedIssuance, Pick<ReceivedAssertion, 'flow' | 'assertion'> {
  readonly client: ClientCredentials | undefined;
}

export interface RedeemedAssertion extends ExchangeResult {
  /** The resource of the access token, if an identity assertion or its client named one. */
  readonly resource?: string;
}

@Injectable()
export class IdAssertionService {
  constructor(
    readonly verifier: ExternalTokenVerifier,
    readonly revocations: Revocations,
    private readonly clients: ClientAuthenticator,
    private readonly jtis: JtiRepository,
    private readonly exchanges: TokenExchangeService,
    private readonly accessTokens: AccessTokenService,
    private readonly proofs: DpopProofs,
  ) {}

  /**
   * An identity assertion needs an authenticated client. An ordinary JWT does not, but any credentials must be valid.
   * @throws OAuthRefusal with the first reason against the client or the assertion
   * @throws TooManyRequestsError above the limit of an entry
   */
  async redeem(sent: SentAssertion, request: FlowRequest): Promise<RedeemedAssertion> {
    const tokens = await request.stage('verify', async () => {
      const { flow, assertion, proving } = sent;
      const client = await this.authenticated(sent, request);
      const verified = await verifyAssertion(this, { flow, assertion, client }, request);
      return this.proofs.withProof(verified, proving);
    });
    const asked = askedOf(sent, tokens);
    const issued = await this.exchanges.issueFor(tokens, asked, request);
    if (sent.flow !== 'id-jag' || asked.resource === undefined) return issued;
    return { resource: issued.audience ?? this.accessTokens.audience, ...issued };
  }

  private async authenticated(
    { flow, client: sent }: SentAssertion,
    request: FlowRequest,
  ): Promise<AuthenticatedClient | undefined> {
    if (flow === 'jwt-bearer' && sent === undefined) return undefined;
    return this.clients.authenticateOnce(sent, (use) => request.inTime(() => this.jtis.useAlone(use)));
  }
}
