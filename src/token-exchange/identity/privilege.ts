// Who is an administrator, and who may sign in by an entry that an administrator stored. Sign-ins, links, sessions and access tokens ask.
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { HostUser } from '../host/users.js';
import type { RoleNames } from '../settings/token-exchange.options.js';

/** Whether the users of a role are administrators. */
export function isPrivileged(role: string, { owner, initial, privileged }: RoleNames): boolean {
  return role === owner || (privileged?.includes(role) ?? role !== initial);
}

/** What vouches for a user: the entry whose key signed, or a link. */
export interface Voucher {
  /** Whether an administrator stored the entry, or an administrator's entry made the link. Default false. */
  readonly byAdministrator?: boolean;
}

/**
 * Whether a sign-in or a credential is refused for what vouches for it. A role may change at any time, so each use asks.
 * @param vouchers an unknown one is taken for an administrator's
 * @rule D144 No administrator's entry signs in the owner or an administrator, and what it signed is refused while its user is one.
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
