// Who may act for whom: rules of the subject token and of both entries.
import type { Tokens } from '../verify/tokens.js';
import { printable, printableList } from '../../platform/text/printable.js';
import type { RejectionContext } from '../refusals/rejection.js';
import { Rejection } from '../refusals/rejection.js';
import type { PriorActor } from '../verify/external-claims.js';
import { MAX_PRIOR_ACTORS } from '../verify/external-claims.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import { refuseLoneSubject } from '../verify/checks.js';

/**
 * Checks whether the tokens of an exchange may come together, or the subject alone.
 * @throws Rejection `actor_required`, `actor_not_allowed`, `act_for_not_allowed`
 */
export function checkActor({ subject, actor }: Tokens): void {
  try {
    if (actor === undefined) return refuseLoneSubject(subject);
    checkMayAct(subject, actor);
    checkActFor(subject, actor);
  } catch (error) {
    if (error instanceof Rejection)
      error.add({ party: actor === undefined ? 'subject' : 'actor', ...issuerAndKid(actor ?? subject) });
    throw error;
  }
}

/** @rule P.mayAct Where a subject token names who may act for it, no other actor is taken (RFC 8693 §4.4). */
function checkMayAct({ claims: { iss, mayAct } }: VerifiedToken, actor: VerifiedToken): void {
  if (mayAct === undefined) return;
  const isNamed = mayAct.sub === actor.claims.sub && (mayAct.iss ?? iss) === actor.claims.iss;
  if (!isNamed) throw new Rejection('actor_not_allowed', otherActor(mayAct.iss ?? iss, actor.claims.iss));
}

/** The issuers only: a `sub` never reaches log or trail. */
function otherActor(named: string, actual: string): RejectionContext {
  const expected = `the actor of ${printable(named)} whom may_act names`;
  return { expected, found: named === actual ? 'another of its actors' : `an actor of ${printable(actual)}` };
}

/** @rule P.actFor An actor's entry may limit whose subjects the actor acts for. */
function checkActFor({ claims: { iss } }: VerifiedToken, actor: VerifiedToken): void {
  const { actFor } = actor.key.policy;
  if (actFor?.has(iss) === false)
    throw new Rejection('act_for_not_allowed', { expected: printableList(actFor), found: printable(iss) });
}

/**
 * Who has acted before this exchange, the latest first: for the actor, then for the subject.
 * @throws Rejection `claims_invalid` where the two chains together are too long
 */
export function priorActorsOf({ subject, actor }: Tokens): readonly PriorActor[] {
  const actors = [...(actor?.claims.priorActors ?? []), ...(subject.claims.priorActors ?? [])];
  // Either chain alone is short enough.
  if (actor === undefined || actors.length <= MAX_PRIOR_ACTORS) return actors;
  const detail = `act of both tokens has over ${MAX_PRIOR_ACTORS} actors`;
  throw new Rejection('claims_invalid', { party: 'actor', ...issuerAndKid(actor), detail });
}
