// Why a claim of projects is refused.
import type { Explanation, TokenRefusal } from '../refusals/refusal.js';

export const PROJECT_REFUSALS = {
  project_not_allowed: {
    check: 'projects',
    cause: 'the entry may not assign the named project',
    remedy: 'correct the key, or extend `projects.mayAssign`',
    embed: 'Project is not allowed',
  },
  project_role_not_allowed: {
    check: 'projects',
    cause: 'the entry may not assign the named project role',
    remedy: 'name an expected role, or extend `projects.roles`',
    embed: 'Role in the project is not allowed',
  },
  project_unknown: {
    check: 'projects',
    cause: 'no project has the named key, and the entry may not create one',
    remedy: 'give a project this key (`svc-admin projects set-key`), or set `projects.create`',
    embed: 'Project is not known',
  },
  too_many_projects: {
    check: 'projects',
    cause: 'claims would make the user a member of more than 100 projects',
    remedy: 'name fewer projects, or end memberships',
    embed: 'User has too many projects',
  },
} satisfies Record<string, TokenRefusal>;

export const PROJECT_NOTICES = {
  project_administrator_kept: {
    cause: "the user stays the project's only administrator, although the claim removes the role",
    remedy: 'make another user an administrator, and send a new token',
  },
} as const satisfies Record<string, Explanation>;
