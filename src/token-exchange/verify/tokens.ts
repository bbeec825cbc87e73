// The verified tokens of one request.
import type { ExternalPerson, SubjectOrActor } from '../refusals/rejection.js';
import type { TokenUse } from '../replay/token-use.js';
import type { AuthenticatedClient } from './client-authenticator.js';
import type { DpopProof } from './dpop-proof.js';
import type { VerifiedToken } from './external-token.verifier.js';

/** One value for the subject, and one for the actor where there is one. */
export interface PerToken<Value> {
  readonly subject: Value;
  readonly actor?: Value;
}

export interface Tokens extends PerToken<VerifiedToken> {
  /** The client that sent an assertion, which is the subject then. */
  readonly client?: AuthenticatedClient;
  /** What shows whose key the access token is to be bound to; undefined: it is a Bearer token. */
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
