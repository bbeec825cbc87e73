// The table of permissions.
import type { Authority } from '../../access/authentication.service.js';
import type { GlobalRole } from '../../users/role.js';

export const PROJECT_ROLES = ['project:admin', 'project:editor', 'project:viewer'] as const;
/** Lowest first. */
export const PROJECT_ROLES_ASCENDING: readonly ProjectRole[] = PROJECT_ROLES.toReversed();
export type ProjectRole = (typeof PROJECT_ROLES)[number];

/** Rights on the whole instance, which only global roles grant. */
export const INSTANCE_RIGHTS = [
  'user:read',
  'user:write',
  'project:create',
  // All credentials of the instance in one list.
  'credential:list',
  // The audit trail, with the actions of all users and issuers.
  'audit:read',
] as const;
export type InstanceRight = (typeof INSTANCE_RIGHTS)[number];

/**
 * Rights in a project and on its objects. A user without a kind's `read` does not see that an object exists.
 */
export const PROJECT_RIGHTS = [
  'project:read',
  'project:write',
  'member:read',
  'member:write',
  'workflow:read',
  'workflow:write',
  'credential:read',
  'credential:write',
] as const;
export type ProjectRight = (typeof PROJECT_RIGHTS)[number];

export type Right = InstanceRight | ProjectRight;

const EVERYTHING = [...INSTANCE_RIGHTS, ...PROJECT_RIGHTS] as const;
const READ_PROJECT = ['project:read', 'member:read', 'workflow:read', 'credential:read'] as const;

/**
 * The scopes to which an access token can be limited. Each right is a scope. A scope grants no right: it only
 * lets a token use a right that its users have.
 */
export const SCOPES: readonly Right[] = EVERYTHING;

/**
 * The rights of each role. A global role's project rights apply in every project, a project role's only in
 * that project.
 */
export const RIGHTS: Readonly<Record<GlobalRole | ProjectRole, readonly Right[]>> = {
  'global:owner': EVERYTHING,
  'global:admin': EVERYTHING,
  'global:member': [],
  'project:admin': PROJECT_RIGHTS,
  'project:editor': [...READ_PROJECT, 'workflow:write', 'credential:write'],
  'project:viewer': READ_PROJECT,
};

/** Whether one of the roles grants the right; `undefined` means no role. */
export function grants(roles: readonly (GlobalRole | ProjectRole | undefined)[], right: Right): boolean {
  return roles.some((role) => role !== undefined && RIGHTS[role].includes(right));
}

/** The right that makes an object visible: `workflow:write` → `workflow:read`. */
export function readRightOf(right: Right): Right | undefined {
  const name = `${right.split(':', 1)[0]}:read`;
  return EVERYTHING.find((candidate) => candidate === name);
}

export function isInstanceRight(right: Right): right is InstanceRight {
  return INSTANCE_RIGHTS.some((candidate) => candidate === right);
}

/** Limits a list to projects of which all given users are members. Without a user, it has all projects of the instance. */
export interface MemberScope {
  readonly memberId?: string;
  /** Only together with `memberId`. */
  readonly otherMemberId?: string;
}

/**
 * Members see their own projects; administrators and the owner see all (D47). If two users are checked, both
 * must see a project.
 */
export function memberScopeOf({ rightsOf }: Authority): MemberScope {
  const members = rightsOf.filter(({ role }) => !grants([role], 'project:read'));
  const [memberId, otherMemberId] = members.map(({ id }) => id);
  return { memberId, otherMemberId };
}
