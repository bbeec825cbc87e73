// The global roles of the instance.

/** At most one user is the owner (D47): the index `user_account_single_owner` of the first migration. */
export const OWNER_ROLE = 'global:owner';
export const ADMIN_ROLE = 'global:admin';
export const MEMBER_ROLE = 'global:member';

export const GLOBAL_ROLES = [OWNER_ROLE, ADMIN_ROLE, MEMBER_ROLE] as const;
export type GlobalRole = (typeof GLOBAL_ROLES)[number];

/** The roles that can be assigned; the command line creates the owner once. */
export const ASSIGNABLE_ROLES = [MEMBER_ROLE, ADMIN_ROLE] as const;

/** As token exchange takes them. */
export const ROLE_NAMES = { assignable: ASSIGNABLE_ROLES, owner: OWNER_ROLE, initial: MEMBER_ROLE } as const;

/** Users with these roles may sign in at the operator's page, with a password of their own. */
export const OPERATOR_ROLES: readonly GlobalRole[] = [OWNER_ROLE, ADMIN_ROLE];

export function isGlobalRole(value: string): value is GlobalRole {
  return GLOBAL_ROLES.some((role) => role === value);
}
