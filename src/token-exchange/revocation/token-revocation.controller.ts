// POST /rest/auth/oauth/revoke (RFC 7009).
import { Post, Req, Res, UseGuards } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import { printable } from '../../platform/text/printable.js';
import type { AuthenticatedClient, ClientCredentials } from '../assertions/client-authenticator.js';
import {
  CLIENT_FIELDS,
  ClientAuthenticator,
  readClientCredentials,
} from '../assertions/client-authenticator.js';
import {
  AvailableGuard,
  enabledGuardOf,
  FlowEndpoint,
  FormGuard,
  RevocationsKnownGuard,
  throttleGuardOf,
  WaitGuard,
} from '../endpoint/flow.endpoints.js';
import type { ClientRequest } from '../endpoint/flow.runner.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { Form } from '../endpoint/form.js';
import { OAuthRefusal, requestRefusal } from '../refusals/oauth-refusal.js';
import { JtiRepository } from '../replay/jti.repository.js';
import type { VerifiedAccessToken } from '../tokens/access-token.service.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import { RevocationService } from './revocation.service.js';

interface RevocationForm {
  /** Secret. */
  readonly token: string;
  /** A function that throws for unreadable credentials, because they matter only for a client's token. */
  readonly credentials: () => ClientCredentials | undefined;
}

/**
 * Reads the token and the client's credentials. Other fields are ignored, also `token_type_hint`, because there is only one type.
 * @throws OAuthRefusal `token_missing` or `field_invalid`
 */
function readTokenRevocationForm({ body, headers }: HttpRequest): RevocationForm {
  const form = new Form(body, { token: {}, ...CLIENT_FIELDS }).wellFormed();
  const token = form.trimmed('token');
  if (token === '') throw requestRefusal('token_missing', 'token is required');
  return { token, credentials: () => readClientCredentials(form, headers.authorization) };
}

@FlowEndpoint('revocation')
@UseGuards(
  WaitGuard,
  AvailableGuard,
  throttleGuardOf('revocation'),
  enabledGuardOf('revocation'),
  FormGuard,
  RevocationsKnownGuard,
)
export class TokenRevocationController {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly revocations: RevocationService,
    private readonly clients: ClientAuthenticator,
    private readonly jtis: JtiRepository,
    private readonly flows: FlowRunner,
    private readonly answers: HttpAnswers,
  ) {}

  /**
   * Ends the token if this instance has issued it and it is still valid. Any other string needs no revocation.
   * @rule D61 The holder of an access token may end it, on all instances. The token is the only credential, unless a client has
   * authenticated to get it (RFC 7009 §2.1). See introspection.service.ts for who may introspect it.
   */
  @Post(ENDPOINTS.revocation.path)
  async revoke(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const sent = readTokenRevocationForm(request);
    await this.flows.runOther('revocation', request, (received) => this.end(sent, received));
    // The answer does not show whether there was such a token (RFC 7009 §2.2).
    this.answers.reply(request, response, { status: 200, body: {} });
  }

  private async end({ token, credentials }: RevocationForm, request: ClientRequest): Promise<void> {
    const verdict = await request.inTime(() => this.accessTokens.check(token));
    if (!('token' in verdict)) return;
    const { token: checked } = verdict;
    if (checked.clientId !== undefined) await this.authenticate(credentials, checked, request);
    await request.inTime(() => this.revocations.endToken(checked, request.requestId));
  }

  /** @throws OAuthRefusal for a client that does not authenticate, or another client's token */
  private async authenticate(
    credentials: RevocationForm['credentials'],
    token: VerifiedAccessToken,
    request: ClientRequest,
  ): Promise<void> {
    const client = await this.clients.authenticateOnce(credentials(), (use) =>
      request.inTime(() => this.jtis.useAlone(use)),
    );
    if (!isIssuedTo(client, token))
      throw new OAuthRefusal('client_credential_invalid', {
        clientId: printable(client.id),
        detail: 'the access token was issued to another client',
      });
  }
}

/** Two companies may use the same id for their clients. */
function isIssuedTo(
  { id, issuers }: AuthenticatedClient,
  { clientId, signedBy }: VerifiedAccessToken,
): boolean {
  const signers = [signedBy.subject, signedBy.actor];
  return clientId === id && signers.every((key) => key !== undefined && issuers.has(key.issuer));
}
