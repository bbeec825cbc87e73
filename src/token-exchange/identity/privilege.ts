// Which users are administrators, and who may sign in by an entry that an administrator stored. Checked for sign-ins, links,
// sessions and access tokens.
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { HostUser } from '../host/users.js';
import type { RoleNames } from '../settings/token-exchange.options.js';

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
