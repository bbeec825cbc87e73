// The jobs and services whose tokens came: those of entries that name the user.
import { visible } from '../../platform/text/printable.js';
import type { PriorActor } from '../verify/external-claims.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { shownSubject } from '../verify/shown-subject.js';
import type { PerToken } from '../verify/tokens.js';
import { listOf } from '../verify/tokens.js';

/** By issuer and `sub`, as the tokens have them; undefined where there are none. */
export function workloadsOf(tokens: PerToken<VerifiedToken>): readonly PriorActor[] | undefined {
  const workloads = listOf(tokens).filter(({ key }) => key.policy.signInAs !== undefined);
  return workloads.length === 0 ? undefined : workloads.map(({ claims: { iss, sub } }) => ({ iss, sub }));
}

/**
 * As the trail holds them.
 * @rule D145 Which job it was stands in trail and log, and in the access token as it is.
 */
export function recordedWorkloads(
  workloads: readonly PriorActor[] | undefined,
): readonly PriorActor[] | undefined {
  return workloads?.map(({ iss, sub }) => ({ iss: visible(iss), sub: shownSubject(sub) }));
}
