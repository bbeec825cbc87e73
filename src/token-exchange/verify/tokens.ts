// The verified tokens of one request: their persons, jobs and revocations.
import type { SubjectOrActor, ExternalPerson } from '../refusals/oauth-refusal.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { TokenUse } from '../replay/token-use.js';
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import type { DpopProof } from '../dpop/proof-checks.js';
import type { VerifiedToken } from './external-token.verifier.js';
import type { PriorActor } from './external-claims.js';
import { shownName, shownSubject } from '../workloads/workload-policy.js';
import type { Revocations } from '../revocation/revocations.js';
import { issuerAndKid } from './external-token.verifier.js';

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
