// The rules about roles: which are administrators', who may sign in by whose entry, and what a role claim does (4.4).
import { printable, printableList } from '../../platform/text/printable.js';
import type { HostUser } from '../host/users.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { RoleNames } from '../settings/token-exchange.options.js';
import type { TrustPolicy } from '../trust/trusted-key.js';

/** Whether a role is an administrator's. */
export function isPrivileged(role: string, { owner, initial, privileged }: RoleNames): boolean {
  return role === owner || (privileged?.includes(role) ?? role !== initial);
}

/** A voucher for a user: the entry whose key signed, or a link. */
export interface Voucher {
  /** Whether an administrator stored the entry, or an administrator's entry made the link. Default false. */
  readonly byAdministrator?: boolean;
}

/**
 * Whether a sign-in or a credential is refused because of its vouchers. A role may change at any time, so each use checks.
 * @param vouchers an unknown voucher is treated as an administrator's
 * @rule D144 No administrator's entry signs in the owner or an administrator. Credentials that it signed for are refused while
 * their user is one.
 */
export function isBarred(
  { role }: Pick<HostUser, 'role'>,
  vouchers: readonly (Voucher | undefined)[],
  roles: RoleNames,
): boolean {
  return (
    isPrivileged(role, roles) && vouchers.some((one) => one === undefined || one.byAdministrator === true)
  );
}

/** @throws OAuthRefusal `privileged_user_not_allowed` */
export function checkVouchers(user: HostUser, vouchers: readonly Voucher[], roles: RoleNames): void {
  if (!isBarred(user, vouchers, roles)) return;
  throw new OAuthRefusal('privileged_user_not_allowed', {
    userId: user.id,
    expected: "a user without privileges, or an entry and a link of the owner's",
    found: user.role,
  });
}

export function ownerExcluded({ id: userId, role: found }: HostUser): OAuthRefusal {
  return new OAuthRefusal('owner_excluded', { userId, expected: 'another user than the owner', found });
}

/**
 * Checks a known user by the stored role, before a claim may change it.
 * @rule P.excludeOwner An entry may keep the owner out.
 * @rule P.roleCeiling With a ceiling, a user whose stored role the entry does not list is refused.
 * @throws OAuthRefusal `owner_excluded`, `stored_role_not_allowed`
 */
export function checkStoredRole(user: HostUser, policy: TrustPolicy, roles: RoleNames): void {
  const { role, id: userId } = user;
  if (policy.excludeOwner === true && role === roles.owner) throw ownerExcluded(user);
  if (policy.roleCeiling === true && policy.allowedRoles?.has(role) === false)
    throw new OAuthRefusal('stored_role_not_allowed', {
      userId,
      expected: printableList(policy.allowedRoles),
      found: role,
    });
}

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
