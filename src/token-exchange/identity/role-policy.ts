// The role table of the specification (4.4): what a role claim does to a new and to an existing user.
import { printable, printableList } from '../../platform/text/printable.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { RoleNames } from '../settings/token-exchange.options.js';

/** The effect of a role claim on an existing user. */
export type RoleSync =
  | { kind: 'keep' }
  | { kind: 'change'; role: string }
  /** The claim names no assignable role: the login succeeds, and the log warns. */
  | { kind: 'ignore-claim' };

/**
 * The role of a new user.
 * @rule 4.4.role.1 A new user without a role claim becomes a member.
 * @rule 4.4.role.2 A new user gets the claimed role; the exchange fails if it is unrecognised, owner or not allowed.
 * @rule D9 Without a claim the user gets the initial role: `allowedRoles` restricts the claim only. With `roleCeiling`, which
 * would refuse the user's second login, it restricts this role too.
 * @throws OAuthRefusal
 */
export function roleOfNewUser(claim: string | undefined, policy: TrustPolicy, roles: RoleNames): string {
  if (claim === roles.owner) throw new OAuthRefusal('role_not_assignable', askedRole(claim, roles));
  if (claim !== undefined && !roles.assignable.includes(claim))
    throw new OAuthRefusal('role_not_recognized', askedRole(claim, roles));
  const role = claim ?? roles.initial;
  if (claim !== undefined || policy.roleCeiling === true) refuseUnlessAllowed(role, policy);
  return role;
}

/**
 * What a role claim does to an existing user.
 * @rule 2.5.4 No token gives or removes the owner's role.
 * @rule 4.4.role.3 Without a role claim the role stays.
 * @rule 4.4.role.4 A valid claim changes the role if it differs, and fails if the entry does not allow it.
 * @rule 4.4.role.5 An unrecognised or owner claim is ignored with a warning.
 * @rule 4.4.role.6 The owner's role is never touched.
 * @throws OAuthRefusal `role_not_allowed`
 */
export function roleOfExistingUser(
  current: string,
  claim: string | undefined,
  policy: TrustPolicy,
  roles: RoleNames,
): RoleSync {
  if (claim === undefined || current === roles.owner) return { kind: 'keep' };
  if (!isAssignable(claim, roles)) return { kind: 'ignore-claim' };
  refuseUnlessAllowed(claim, policy);
  return claim === current ? { kind: 'keep' } : { kind: 'change', role: claim };
}

/** The requested role, and the assignable roles. */
export function askedRole(claim: string | undefined, roles: RoleNames): RefusalContext {
  return { expected: assignableRoles(roles), found: printable(claim) };
}

/** The roles as messages list them. */
function assignableRoles({ assignable, owner }: RoleNames): string {
  return printableList(assignable.filter((role) => role !== owner));
}

/** The owner's role cannot be assigned, even if a host lists it. */
function isAssignable(role: string, { assignable, owner }: RoleNames): boolean {
  return role !== owner && assignable.includes(role);
}

/** @rule 5.2.8 = 2.1.allowedRoles Role claims are checked against the `allowedRoles` of the matching entry. */
function refuseUnlessAllowed(role: string, policy: TrustPolicy): void {
  if (isAllowed(role, policy)) return;
  throw new OAuthRefusal('role_not_allowed', {
    expected: printableList(policy.allowedRoles ?? []),
    found: printable(role),
  });
}

function isAllowed(role: string, { allowedRoles }: TrustPolicy): boolean {
  return allowedRoles?.has(role) ?? true;
}
