// Verifies the tokens of a request together, before any is used up: who may act for whom, which key is proved (DPoP), and which
// page a login comes from.
import { printable, printableList } from '../../platform/text/printable.js';
import type { AssertionFlow } from '../endpoint/flows.js';
import type { RefusalContext, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { OAuthRefusal, requestRefusal, inContext } from '../refusals/oauth-refusal.js';
import type { TokenUse } from '../replay/token-use.js';
import type { Revocations } from '../revocation/revocations.js';
import type { ExternalTokenVerifier, VerifiedToken } from './external-token.verifier.js';
import { refuseRevokedTrust } from './tokens.js';
import type {
  AuthenticatedClient,
  ClientAuthenticator,
  ClientCredentials,
} from '../assertions/client-authenticator.js';
import type { Tokens } from './tokens.js';
import type { PriorActor } from './external-claims.js';
import { MAX_PRIOR_ACTORS } from './external-claims.js';
import { issuerAndKid } from './external-token.verifier.js';
import { refuseLoneSubject } from './claim-checks.js';
import type { DpopProofs, ProvingRequest } from '../dpop/dpop-proofs.js';
import type { DpopProof } from '../dpop/proof-checks.js';
import { pageOrigin } from '../../platform/text/origin.js';

/** What verification needs. */
export interface Verification {
  readonly verifier: ExternalTokenVerifier;
  readonly revocations: Revocations;
}

/** What is recorded about a request even if a later check refuses it. */
export interface VerifiedRequest {
  /** Tokens that are valid by themselves. */
  tokens?: Tokens;
  /** Which has authenticated. */
  client?: AuthenticatedClient;
}

/** The tokens of an exchange, as they were sent. Secret. */
export interface ExchangeTokens {
  readonly subjectToken: string;
  readonly actorToken?: string;
}

/** @throws OAuthRefusal with the first reason against the subject token, the actor token, or the two together */
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
 * @throws OAuthRefusal with the first reason against the client
 */
export async function authenticateOnce(
  clients: ClientAuthenticator,
  sent: ClientCredentials | undefined,
  useAlone: (use: TokenUse) => Promise<boolean>,
): Promise<AuthenticatedClient> {
  const { use, ...client } = await clients.authenticate(sent);
  if (use !== undefined && !(await useAlone(use)))
    throw new OAuthRefusal('client_credential_replayed', { clientId: printable(client.id) });
  return client;
}

/** An assertion (RFC 7523): an identity assertion, whose client has authenticated, or an ordinary JWT. */
export interface ReceivedAssertion {
  readonly flow: AssertionFlow;
  /** Secret. */
  readonly assertion: string;
  readonly client?: AuthenticatedClient;
}

/** @throws OAuthRefusal with the first reason against it */
export async function verifyAssertion(
  { verifier, revocations }: Verification,
  { flow, assertion, client }: ReceivedAssertion,
  request: VerifiedRequest = {},
): Promise<Tokens> {
  request.client = client;
  const subject = await verifier.verify(assertion, flow, undefined, client);
  return acceptedTogether(revocations, { subject, client }, request);
}

/** A login as far as its verification looks at it. */
export interface VerifiedLogin {
  /** Secret. */
  readonly token: string;
  readonly source: LoginSource;
  /** Of a login for a bound session; undefined: a cookie is to carry the session. */
  readonly page?: LoginPage | undefined;
}

/** The page in the frame that asks for a bound session. */
export interface LoginPage {
  /** The origin of the instance's own pages. */
  readonly ownOrigin: string;
  /** The origin of the page that contains the frame, as the page says. */
  readonly hostOrigin: string;
}

/** @throws OAuthRefusal with the first reason against it */
export async function verifyLogin(
  { verifier, revocations }: Verification,
  { token, source, page }: VerifiedLogin,
  request: VerifiedRequest = {},
): Promise<Tokens> {
  const subject = await verifier.verify(token, 'embed');
  request.tokens = { subject };
  if (page === undefined) refuseBoundToken(subject);
  refuseForeignOrigin(subject, page === undefined ? source : hostSourceOf(subject, source, page));
  refuseRevokedTrust(revocations, { subject });
  return { subject };
}

/**
 * @rule D127 A token that is bound to a key (RFC 7800) opens no session of a cookie, which would be good without the key.
 * @throws OAuthRefusal `confirmation_not_supported`
 */
function refuseBoundToken(token: VerifiedToken): void {
  if (token.boundTo === undefined) return;
  const context = { ...issuerAndKid(token), expected: 'no cnf', found: 'cnf with jkt' };
  throw new OAuthRefusal('confirmation_not_supported', context);
}

/**
 * The host page as the source of the login. The instance's own page says which one it is, so only that page is believed.
 * @throws OAuthRefusal `origin_not_allowed`
 */
function hostSourceOf(
  token: VerifiedToken,
  source: LoginSource,
  { ownOrigin, hostOrigin }: LoginPage,
): LoginSource {
  if (source.origin === ownOrigin) return { ...source, origin: hostOrigin };
  throw new OAuthRefusal('origin_not_allowed', {
    ...issuerAndKid(token),
    expected: `a post from the page of ${printable(ownOrigin)}`,
    found: printableSource(source),
  });
}

function acceptedTogether(revocations: Revocations, tokens: Tokens, request: VerifiedRequest): Tokens {
  request.tokens = tokens;
  checkActor(tokens);
  refuseRevokedTrust(revocations, tokens);
  return tokens;
}

/**
 * Checks whether the tokens of an exchange may come together, or the subject alone.
 * @throws OAuthRefusal `actor_required`, `actor_not_allowed`, `act_for_not_allowed`
 */
export function checkActor({ subject, actor }: Tokens): void {
  try {
    if (actor === undefined) return refuseLoneSubject(subject);
    checkMayAct(subject, actor);
    checkActFor(subject, actor);
  } catch (error) {
    throw inContext(error, {
      party: actor === undefined ? 'subject' : 'actor',
      ...issuerAndKid(actor ?? subject),
    });
  }
}

/** @rule P.mayAct Where a subject token names who may act for it, no other actor is taken (RFC 8693 §4.4). */
function checkMayAct({ claims: { iss, mayAct } }: VerifiedToken, actor: VerifiedToken): void {
  if (mayAct === undefined) return;
  const isNamed = mayAct.sub === actor.claims.sub && (mayAct.iss ?? iss) === actor.claims.iss;
  if (!isNamed) throw new OAuthRefusal('actor_not_allowed', otherActor(mayAct.iss ?? iss, actor.claims.iss));
}

/** The issuers only: a `sub` never reaches log or trail. */
function otherActor(named: string, actual: string): RefusalContext {
  const expected = `the actor of ${printable(named)} whom may_act names`;
  return { expected, found: named === actual ? 'another of its actors' : `an actor of ${printable(actual)}` };
}

/** @rule P.actFor An actor's entry may limit whose subjects the actor acts for. */
function checkActFor({ claims: { iss } }: VerifiedToken, actor: VerifiedToken): void {
  const { actFor } = actor.key.policy;
  if (actFor?.has(iss) === false)
    throw new OAuthRefusal('act_for_not_allowed', { expected: printableList(actFor), found: printable(iss) });
}

/**
 * Who has acted before this exchange, the latest first: for the actor, then for the subject.
 * @throws OAuthRefusal `claims_invalid` where the two chains together are too long
 */
export function priorActorsOf({ subject, actor }: Tokens): readonly PriorActor[] {
  const actors = [...(actor?.claims.priorActors ?? []), ...(subject.claims.priorActors ?? [])];
  // Either chain alone is short enough.
  if (actor === undefined || actors.length <= MAX_PRIOR_ACTORS) return actors;
  const detail = `act of both tokens has over ${MAX_PRIOR_ACTORS} actors`;
  throw new OAuthRefusal('claims_invalid', { party: 'actor', ...issuerAndKid(actor), detail });
}

/**
 * Checks the proof of a request, once its tokens are verified, so that strangers cause no second verification.
 * A token that is bound to a key is taken with a proof by that key only, and what it gets is bound to it again (D140).
 * @param sessionToken the session that a login renews: the proof must be about it
 * @returns the tokens with the proof, if there is one
 * @throws OAuthRefusal `dpop_proof_missing`, `dpop_proof_invalid`, `dpop_key_mismatch`
 * @throws OAuthRefusal `dpop_nonce_required`
 */
export async function withProof(
  tokens: Tokens,
  request: ProvingRequest,
  proofs: DpopProofs,
  sessionToken?: string,
): Promise<Tokens> {
  const proof = await proofs.verify(request, sessionToken);
  refuseWithoutKey(tokens, proof);
  const nonce = proof && proofs.missingNonce(proof);
  const { subject, actor, client } = tokens;
  if (nonce === undefined) return { subject, actor, client, proof };
  const message = 'The DPoP proof needs the nonce of this answer';
  throw requestRefusal('dpop_nonce_required', message, { 'dpop-nonce': nonce });
}

/**
 * Two tokens that are bound to different keys have no proof that fits.
 * @rule P.requireDpop Where the entry asks for a proof, no access token is issued without one.
 * @throws OAuthRefusal
 */
export function refuseWithoutKey({ subject, actor }: Tokens, proof: DpopProof | undefined): void {
  refuseFor('subject', subject, proof);
  if (actor !== undefined) refuseFor('actor', actor, proof);
}

function refuseFor(party: SubjectOrActor, token: VerifiedToken, proof: DpopProof | undefined): void {
  const { boundTo, key } = token;
  const context = { party, ...issuerAndKid(token) };
  const isAskedFor = boundTo !== undefined || key.policy.requireDpop === true;
  if (proof === undefined && isAskedFor) throw new OAuthRefusal('dpop_proof_missing', context);
  if (proof !== undefined && boundTo !== undefined && boundTo !== proof.thumbprint)
    throw new OAuthRefusal('dpop_key_mismatch', { ...context, expected: boundTo, found: proof.thumbprint });
}

/** Unchecked facts about the sender of a request. */
export interface LoginSource {
  readonly method: 'GET' | 'POST';
  /** The `Origin` header. */
  readonly origin: string | undefined;
  /** The `Sec-Fetch-Site` header, which browsers send over HTTPS, and which no page can take away. */
  readonly fetchSite: string | undefined;
}

/**
 * Refuses a login that may come from a page of a foreign origin, if the entry names its origins, so that no such page signs a
 * visitor in (login CSRF). A request without an origin passes only as a post that no browser sent.
 * @rule P.origins Where an entry names origins, a login from another one, by GET, or of a browser without one is refused.
 * @throws OAuthRefusal `origin_not_allowed`
 */
export function refuseForeignOrigin(token: VerifiedToken, source: LoginSource): void {
  const { origins } = token.key.policy;
  if (origins === undefined || isPostedFrom(origins, source)) return;
  throw new OAuthRefusal('origin_not_allowed', {
    ...issuerAndKid(token),
    expected: `a post from ${printableList(origins)}`,
    found: printableSource(source),
  });
}

function printableSource({ method, origin }: LoginSource): string {
  if (method !== 'POST') return 'a GET';
  const named = pageOriginOf(origin);
  return named === undefined ? 'a post that names no origin' : `a post from ${printable(named)}`;
}

/** A GET proves nothing: any link or frame makes one, and browsers name no origin with it. */
function isPostedFrom(origins: ReadonlySet<string>, { method, origin, fetchSite }: LoginSource): boolean {
  if (method !== 'POST') return false;
  // `null`, which pages without referrer send, is listed nowhere.
  return origin === undefined ? fetchSite === undefined : origins.has(origin);
}

/** The origin that the page in the frame may talk to, if a browser named one. */
export function pageOriginOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : pageOrigin(header);
}
