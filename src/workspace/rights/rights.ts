// Who may do what: the one table of permissions.
import type { Authority } from '../../access/principal.js';
import type { GlobalRole } from '../../users/role.js';

/** Roles within one project. */
export const PROJECT_ROLES = ['project:admin', 'project:editor', 'project:viewer'] as const;
/** The lowest first. */
export const PROJECT_ROLES_ASCENDING: readonly ProjectRole[] = PROJECT_ROLES.toReversed();
export type ProjectRole = (typeof PROJECT_ROLES)[number];

/** Rights on the instance as a whole, which only a global role gives. */
export const INSTANCE_RIGHTS = [
  'user:read',
  'user:write',
  'project:create',
  // All credentials of the instance in one list.
  'credential:list',
  // The audit trail, with what all users and issuers have done.
  'audit:read',
] as const;
export type InstanceRight = (typeof INSTANCE_RIGHTS)[number];

/** Rights in a project and on what belongs to it. Who lacks a kind's `read` does not see that it exists. */
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
 * The scopes that an access token can be limited to: each right is one. A scope gives nothing by itself; it leaves a token
 * what its users may do of that right.
 */
export const SCOPES: readonly Right[] = EVERYTHING;

/** The rights of each role. A global role's project rights hold in every project, a project role's in that project. */
export const RIGHTS: Readonly<Record<GlobalRole | ProjectRole, readonly Right[]>> = {
  'global:owner': EVERYTHING,
  'global:admin': EVERYTHING,
  'global:member': [],
  'project:admin': PROJECT_RIGHTS,
  'project:editor': [...READ_PROJECT, 'workflow:write', 'credential:write'],
  'project:viewer': READ_PROJECT,
};

/** Whether one of the roles gives the right; `undefined` stands for no role. */
export function grants(roles: readonly (GlobalRole | ProjectRole | undefined)[], right: Right): boolean {
  return roles.some((role) => role !== undefined && RIGHTS[role].includes(right));
}

/** The right without which a thing is not even seen: `workflow:write` → `workflow:read`. */
export function readRightOf(right: Right): Right | undefined {
  const name = `${right.split(':', 1)[0]}:read`;
  return EVERYTHING.find((candidate) => candidate === name);
}

export function isInstanceRight(right: Right): right is InstanceRight {
  return INSTANCE_RIGHTS.some((candidate) => candidate === right);
}

/** The projects in which all of the given users are members; without any, all projects of the instance. */
export interface MemberScope {
  readonly memberId?: string;
  /** Only beside `memberId`. */
  readonly otherMemberId?: string;
}

/** Members see their projects, administrators and the owner all (D47); of two who are checked, each must see what is shown. */
export function memberScopeOf({ rightsOf }: Authority): MemberScope {
  const members = rightsOf.filter(({ role }) => !grants([role], 'project:read'));
  const [memberId, otherMemberId] = members.map(({ id }) => id);
  return { memberId, otherMemberId };
}
