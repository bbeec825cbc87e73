// The tokens of one request: how they are verified together before any is used up, and their persons, jobs and revocations.
import { printable, printableList } from '../../platform/text/printable.js';
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import type { DpopProof } from '../dpop/proof-checks.js';
import type { AssertionFlow } from '../endpoint/flows.js';
import type { ExternalPerson, RefusalContext, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { inContext, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { Revocations } from '../revocation/revocations.js';
import { shownName, shownSubject } from '../workloads/workload-policy.js';
import type { PriorActor, TokenUse } from './external-claims.js';
import { MAX_PRIOR_ACTORS } from './external-claims.js';
import type { ExternalTokenVerifier, VerifiedToken } from './external-token.verifier.js';
import { issuerAndKid } from './external-token.verifier.js';
import { refuseLoneSubject } from './token-checks.js';

/** One value for the subject, and perhaps one for the actor. */
export interface PerToken<Value> {
  readonly subject: Value;
  readonly actor?: Value;
}

export interface Tokens extends PerToken<VerifiedToken> {
  /** The client that sent an assertion, which is the subject's token. */
  readonly client?: AuthenticatedClient;
  /** The proof of the key that the access token is bound to; undefined: a Bearer token. */
  readonly proof?: DpopProof;
}

/** The subject first. */
export function listOf<Value>({ subject, actor }: PerToken<Value>): Value[] {
  return actor === undefined ? [subject] : [subject, actor];
}

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

/** The replay records of a request. */
export function usesOf(tokens: Tokens): TokenUse[] {
  return listOf(tokens).map(({ claims }) => claims);
}

/** The person of the subject or actor token; undefined if it was not verified. */
export function personOf(
  tokens: Tokens | undefined,
  which: SubjectOrActor | undefined,
): ExternalPerson | undefined {
  const token = which === 'actor' ? tokens?.actor : tokens?.subject;
  return token && { issuer: token.claims.iss, subject: token.claims.sub, email: token.claims.email };
}

/** The jobs by issuer and `sub`, as in the tokens; undefined if there are none. */
export function workloadsOf(tokens: PerToken<VerifiedToken>): readonly PriorActor[] | undefined {
  const workloads = listOf(tokens).filter(({ key }) => key.policy.signInAs !== undefined);
  return workloads.length === 0 ? undefined : workloads.map(({ claims: { iss, sub } }) => ({ iss, sub }));
}

/**
 * Jobs and prior actors for trail and log; undefined if there are none.
 * @rule D145 Trail and log name the job, and the access token has it unchanged.
 */
export function recordedActors(actors: readonly PriorActor[] = []): readonly PriorActor[] | undefined {
  if (actors.length === 0) return undefined;
  return actors.map(({ iss, sub }) => ({ iss: shownName(iss), sub: shownSubject(sub) }));
}

/**
 * Checked before anything is used up. See `refuseRevokedSince` for the rest.
 * @throws OAuthRefusal `trust_revoked`, `signed_out_by_provider`
 * @throws TemporarilyUnavailableException if the revocations are unknown at present
 */
export function refuseRevokedTrust(revocations: Revocations, tokens: Tokens): void {
  revocations.ensureKnown();
  refuseRevokedSince(revocations, tokens);
}

/**
 * Checked again right before a session or access token is issued, without waiting for newer revocations, because the external
 * token is used up. Each use of the session or access token is checked again, so this check only spares the client a useless
 * credential.
 * @throws OAuthRefusal `trust_revoked`, `signed_out_by_provider`
 */
export function refuseRevokedSince(revocations: Revocations, { subject, actor }: Tokens): void {
  refuseRevoked(revocations, subject, 'subject');
  if (actor !== undefined) refuseRevoked(revocations, actor, 'actor');
}

/** @throws OAuthRefusal `trust_revoked` */
export function refuseRevokedKey(
  revocations: Revocations,
  token: Pick<VerifiedToken, 'key'>,
  which?: SubjectOrActor,
): void {
  const key = issuerAndKid(token);
  if (revocations.isRevoked(key)) throw new OAuthRefusal('trust_revoked', { party: which, ...key });
}

function refuseRevoked(revocations: Revocations, token: VerifiedToken, which: SubjectOrActor): void {
  refuseRevokedKey(revocations, token, which);
  const key = issuerAndKid(token);
  if (revocations.isLoggedOut(token.login, [key]))
    throw new OAuthRefusal('signed_out_by_provider', { party: which, ...key });
}
