// Decides on a request by the users that its tokens are linked to. Pure, and with decide.ts the only place with rules about users.
import type { HostUser } from '../host/users.js';
import type { SubjectOrActor } from '../refusals/rejection.js';
import { Rejection } from '../refusals/rejection.js';
import type { RoleNames } from '../settings/token-exchange.options.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import type { PerToken, Tokens } from '../verify/tokens.js';
import type { ResolvedUser } from './apply.js';
import { resolvedUser } from './apply.js';
import { changesNothing, decide } from './decide.js';

/** The user of a link. */
export interface LinkedUser extends HostUser {
  /** Of the link: what `IdentityLinkRepository.findProjectsDigest` finds. */
  readonly projectsDigest: string | null;
}

/** As far as the tokens of a request are linked, of one snapshot of the database. */
export type LinkedUsers = Partial<PerToken<LinkedUser>>;

export type Users = PerToken<ResolvedUser>;

/**
 * The users of a request that changes nothing about them: its success is to be recorded. Undefined where a transaction has to
 * look further, because something is to be written. The second token is not decided on where the first changes something: both
 * may be of one user, who is another then.
 * @throws Rejection where stored identity, role or state forbid it
 */
export function decideRequest(tokens: Tokens, linked: LinkedUsers, roles: RoleNames): Users | undefined {
  const users: Partial<Record<SubjectOrActor, ResolvedUser>> = {};
  for (const { party, token } of inOrder(tokens)) {
    // Whom an entry names is read in the transaction, whether or not the identity is linked.
    const user = token.key.policy.signInAs === undefined ? linked[party] : undefined;
    const resolved = user && resolveUnchanged({ party, token }, user, roles);
    if (resolved === undefined) return undefined;
    users[party] = resolved;
  }
  const { subject, actor } = users;
  return subject && { subject, actor };
}

/** One token of a request. */
interface Party {
  readonly party: SubjectOrActor;
  readonly token: VerifiedToken;
}

/** In the order of the decisions. */
export function inOrder({ subject, actor }: Tokens): readonly Party[] {
  const first = { party: 'subject', token: subject } as const;
  if (actor === undefined) return [first];
  const second = { party: 'actor', token: actor } as const;
  return isActorFirst({ subject, actor }) ? [second, first] : [first, second];
}

/**
 * Whether the actor is decided on before the subject. The identity that sorts first comes first, so that two exchanges whose
 * subjects and actors act for each other lock rows in one order.
 */
export function isActorFirst({ subject, actor }: Tokens): boolean {
  return actor !== undefined && sortKeyOf(actor) < sortKeyOf(subject);
}

function sortKeyOf({ claims: { iss, sub } }: VerifiedToken): string {
  return JSON.stringify([iss, sub]);
}

function resolveUnchanged(
  { party, token }: Party,
  { projectsDigest, ...user }: LinkedUser,
  roles: RoleNames,
): ResolvedUser | undefined {
  try {
    const decision = decide(token, { linked: user, projects: { digest: projectsDigest } }, roles);
    return changesNothing(decision) ? resolvedUser(decision, [], roles) : undefined;
  } catch (error) {
    if (error instanceof Rejection) error.add({ party, ...issuerAndKid(token) });
    throw error;
  }
}
