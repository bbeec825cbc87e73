// The global roles of the instance.

/** At most one user is the owner (D47); see the index `user_account_single_owner` in the first migration. */
export const OWNER_ROLE = 'global:owner';
export const ADMIN_ROLE = 'global:admin';
export const MEMBER_ROLE = 'global:member';

export const GLOBAL_ROLES = [OWNER_ROLE, ADMIN_ROLE, MEMBER_ROLE] as const;
export type GlobalRole = (typeof GLOBAL_ROLES)[number];

/** The roles that can be assigned; only the command line creates the owner, once. */
export const ASSIGNABLE_ROLES = [MEMBER_ROLE, ADMIN_ROLE] as const;

/** The roles in the format of token exchange. */
export const ROLE_NAMES = { assignable: ASSIGNABLE_ROLES, owner: OWNER_ROLE, initial: MEMBER_ROLE } as const;

/** Users with these roles may sign in to the operator's page, with their own password. */
export const OPERATOR_ROLES: readonly GlobalRole[] = [OWNER_ROLE, ADMIN_ROLE];

export function isGlobalRole(value: string): value is GlobalRole {
  return GLOBAL_ROLES.some((role) => role === value);
}
