// In which order the users of an exchange are resolved.
import type { Parties } from '../consumption/consumption.service.js';
import type { Party } from '../rejection.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';

/** What became of each party. */
export interface Resolved<User> {
  readonly subject: User;
  readonly actor?: User;
}

/**
 * Always the identity that sorts first is resolved first: two exchanges whose parties act for each other then wait for
 * one another's rows in one order, instead of in a circle.
 */
export async function resolveInOrder<User>(
  { subject, actor }: Parties,
  resolve: (party: Party, token: VerifiedToken) => Promise<User>,
): Promise<Resolved<User>> {
  if (actor === undefined) return { subject: await resolve('subject', subject) };
  if (sortKeyOf(subject) <= sortKeyOf(actor))
    return { subject: await resolve('subject', subject), actor: await resolve('actor', actor) };
  const resolvedActor = await resolve('actor', actor);
  return { subject: await resolve('subject', subject), actor: resolvedActor };
}

function sortKeyOf({ claims: { iss, sub } }: VerifiedToken): string {
  return JSON.stringify([iss, sub]);
}
