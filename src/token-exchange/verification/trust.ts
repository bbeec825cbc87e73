// What an entry is trusted for: until when, for which way in, and whether for a subject alone.
import type { Flow } from '../flow.js';
import { toldList, toldSeconds } from '../foundation/told-value.js';
import type { TrustPolicy } from '../keys/trust-policy.js';
import { Rejection } from '../rejection.js';

/**
 * Whether tokens of an entry are taken at all, here and now.
 * @param nowSeconds since the Unix epoch
 * @rule D71 No token of a suspended entry is taken.
 * @rule P.notAfter From its `notAfter` on an entry's tokens are refused, whatever their own times.
 * @rule P.flows A token is refused on the way in for which its entry is not trusted.
 * @throws Rejection `entry_suspended`, `trust_ended`, `flow_not_allowed`
 */
export function judgeTrust(
  { isSuspended, notAfter, flows }: TrustPolicy,
  flow: Flow,
  nowSeconds: number,
): void {
  if (isSuspended === true) throw new Rejection('entry_suspended');
  if (notAfter !== undefined && nowSeconds * 1000 >= notAfter.getTime())
    throw trustEnded(notAfter, nowSeconds);
  if (flows?.has(flow) === false)
    throw new Rejection('flow_not_allowed', { expected: toldList(flows), found: flow });
}

function trustEnded(notAfter: Date, nowSeconds: number): Rejection {
  const found = `ended ${toldSeconds(nowSeconds - notAfter.getTime() / 1000)} ago`;
  return new Rejection('trust_ended', { expected: `before ${notAfter.toISOString()}`, found });
}

/**
 * Judges a subject who comes without an actor. At an embedded login there is never one.
 * @rule P.requireActor Where the entry asks for an actor, a subject alone gets neither an access token nor a session.
 * @throws Rejection `actor_required`
 */
export function judgeLoneSubject({ requireActor }: TrustPolicy): void {
  if (requireActor === true)
    throw new Rejection('actor_required', { expected: 'an actor', found: 'a subject alone' });
}
