// POST /rest/auth/oauth/revoke (RFC 7009).
import { Post, Req, Res } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { SharedWait } from '../../platform/database/wait-limit.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers, stateOf } from '../../platform/http/http-answers.js';
import { clientOf } from '../../platform/http/throttle/rate-limit.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import { printable } from '../../platform/text/printable.js';
import { ClientRefusals } from '../endpoint/client-refusals.js';
import { authenticateOnce } from '../verify/verification.js';
import { OAuthRefusal, isTokenRefusal, requestRefusal } from '../refusals/oauth-refusal.js';
import { JtiRepository } from '../replay/jti.repository.js';
import { RevocationService } from './revocation.service.js';
import type { VerifiedAccessToken } from '../tokens/access-token.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import type { AuthenticatedClient, ClientCredentials } from '../assertions/client-authenticator.js';
import { ClientAuthenticator } from '../assertions/client-authenticator.js';
import { CLIENT_FIELDS, readClientCredentials } from '../assertions/client-credentials.js';
import { FlowEndpoint } from '../endpoint/flow.endpoints.js';
import { Form } from '../endpoint/form.js';
import { ENDPOINTS } from '../endpoint/flows.js';

interface Revoked {
  /** Secret. */
  readonly token: string;
  /** A function that throws for unreadable credentials, because they matter only for a client's token. */
  readonly credentials: () => ClientCredentials | undefined;
}

/**
 * Reads the token and the client's credentials. `token_type_hint` is ignored, because there is one type only, and so is every
 * other field.
 * @throws OAuthRefusal `token_missing` or `field_invalid`
 */
function readTokenRevocationForm({ body, headers }: HttpRequest): Revoked {
  const form = new Form(body, { token: {}, ...CLIENT_FIELDS }).wellFormed();
  const token = form.trimmed('token');
  if (token === '') throw requestRefusal('token_missing', 'token is required');
  return { token, credentials: () => readClientCredentials(form, headers.authorization) };
}

@FlowEndpoint('revocation')
export class TokenRevocationController {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly revocations: RevocationService,
    private readonly clients: ClientAuthenticator,
    private readonly jtis: JtiRepository,
    private readonly refusals: ClientRefusals,
    private readonly database: Database,
    private readonly answers: HttpAnswers,
  ) {}

  /**
   * Ends the token if it is a valid one of this instance. Any other string is useless already.
   * @rule D61 The holder of an access token may end it, on all instances. The token is the only credential, unless a client has
   * authenticated to get it (RFC 7009 §2.1). See introspection.service.ts for who may ask about it.
   */
  @Post(ENDPOINTS.revocation.path)
  async revoke(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const { token, credentials } = readTokenRevocationForm(request);
    const wait = new SharedWait(this.database.waitMs - (stateOf(request).waitedMs ?? 0));
    const verdict = await wait.inTime(() => this.accessTokens.check(token));
    if ('token' in verdict) {
      const { token: checked } = verdict;
      if (checked.clientId !== undefined) await this.authenticate(credentials, checked, request, wait);
      await wait.inTime(() => this.revocations.endToken(checked, requestIdOf(request)));
    }
    // The answer does not show whether there was such a token (RFC 7009 §2.2).
    this.answers.reply(request, response, { status: 200, body: {} });
  }

  /** @throws OAuthRefusal for a client that does not authenticate, or another client's token, after it is recorded */
  private async authenticate(
    credentials: Revoked['credentials'],
    token: VerifiedAccessToken,
    request: HttpRequest,
    wait: SharedWait,
  ): Promise<void> {
    try {
      const client = await authenticateOnce(this.clients, credentials(), (use) =>
        wait.inTime(() => this.jtis.useAlone(use)),
      );
      if (!isIssuedTo(client, token))
        throw new OAuthRefusal('client_credential_invalid', {
          clientId: printable(client.id),
          detail: 'the access token was issued to another client',
        });
    } catch (error) {
      const source = { requestId: requestIdOf(request), clientAddress: clientOf(request.ip) };
      if (isTokenRefusal(error)) await wait.inTime(() => this.refusals.record('revocation', error, source));
      throw error;
    }
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
