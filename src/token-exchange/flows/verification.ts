// Verifies the tokens of a request, together and by where they come from, before anything is used up for them.
import { printable } from '../../platform/text/printable.js';
import { Rejection } from '../refusals/rejection.js';
import type { TokenUse } from '../replay/token-use.js';
import type { Revocations } from '../revocation/revocations.js';
import type { ExternalTokenVerifier } from '../verify/external-token.verifier.js';
import { refuseRevokedTrust } from '../verify/revoked-trust.js';
import type {
  AuthenticatedClient,
  ClientAuthenticator,
  ClientCredentials,
} from '../verify/client-authenticator.js';
import type { Tokens } from '../verify/tokens.js';
import { checkActor } from './delegation-policy.js';
import type { LoginSource } from './login-origin.js';
import { refuseForeignOrigin } from './login-origin.js';

/** The needs of the verification of tokens. */
export interface Verification {
  readonly verifier: ExternalTokenVerifier;
  readonly revocations: Revocations;
}

/** A request whose tokens are valid by themselves: their users are recorded even if a later check refuses them. */
export interface VerifiedRequest {
  tokens?: Tokens;
}

/** The tokens of an exchange, as they were sent. Secret. */
export interface ExchangeTokens {
  readonly subjectToken: string;
  readonly actorToken?: string;
}

/** @throws Rejection with the first reason against the subject token, the actor token, or the two together */
export async function verifyExchange(
  { verifier, revocations }: Verification,
  { subjectToken, actorToken }: ExchangeTokens,
  request: VerifiedRequest = {},
): Promise<Tokens> {
  const subject = await verifier.verify(subjectToken, 'exchange', 'subject');
  const actor = actorToken === undefined ? undefined : await verifier.verify(actorToken, 'exchange', 'actor');
  return acceptedTogether(revocations, { subject, actor }, request);
}

/**
 * Authenticates a client. Its JWT is used up as soon as it has authenticated the client.
 * @param useAlone uses up the id of a JWT; false where it was used before
 * @throws Rejection with the first reason against the client
 */
export async function authenticateOnce(
  clients: ClientAuthenticator,
  sent: ClientCredentials | undefined,
  useAlone: (use: TokenUse) => Promise<boolean>,
): Promise<AuthenticatedClient> {
  const { use, ...client } = await clients.authenticate(sent);
  if (use !== undefined && !(await useAlone(use)))
    throw new Rejection('client_credential_replayed', { clientId: printable(client.id) });
  return client;
}

/** An assertion (RFC 7523): an identity assertion, whose client has authenticated, or an ordinary JWT. */
export interface ReceivedAssertion {
  readonly flow: 'id-jag' | 'jwt-bearer';
  /** Secret. */
  readonly assertion: string;
  readonly client?: AuthenticatedClient;
}

/** @throws Rejection with the first reason against it */
export async function verifyAssertion(
  { verifier, revocations }: Verification,
  { flow, assertion, client }: ReceivedAssertion,
  request: VerifiedRequest = {},
): Promise<Tokens> {
  const subject = await verifier.verify(assertion, flow, undefined, client);
  return acceptedTogether(revocations, { subject, client }, request);
}

/** @throws Rejection with the first reason against it */
export async function verifyLogin(
  { verifier, revocations }: Verification,
  { token, source }: { readonly token: string; readonly source: LoginSource },
  request: VerifiedRequest = {},
): Promise<Tokens> {
  const subject = await verifier.verify(token, 'embed');
  request.tokens = { subject };
  refuseForeignOrigin(subject, source);
  refuseRevokedTrust(revocations, { subject });
  return { subject };
}

function acceptedTogether(revocations: Revocations, tokens: Tokens, request: VerifiedRequest): Tokens {
  request.tokens = tokens;
  checkActor(tokens);
  refuseRevokedTrust(revocations, tokens);
  return tokens;
}
