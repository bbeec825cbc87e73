// Why a claim of projects is refused.
import type { Explanation, TokenRefusal } from '../refusals/refusal.js';

export const PROJECT_REFUSALS = {
  project_not_allowed: {
    check: 'projects',
    cause: 'the entry may not assign the named project',
    remedy: 'the partner corrects the key, or the operator extends `projects.mayAssign`',
    embed: 'Project is not allowed',
  },
  project_role_not_allowed: {
    check: 'projects',
    cause: 'the entry may not assign the named project role',
    remedy: 'the partner names an expected role, or the operator extends `projects.roles`',
    embed: 'Role in the project is not allowed',
  },
  project_unknown: {
    check: 'projects',
    cause: 'no project has the named key, and the entry may not create one',
    remedy: 'the operator gives a project this key (`svc-admin projects set-key`), or sets `projects.create`',
    embed: 'Project is not known',
  },
  too_many_projects: {
    check: 'projects',
    cause: 'claims would make the user a member of more than 100 projects',
    remedy: 'the partner names fewer projects, or the operator ends memberships',
    embed: 'User has too many projects',
  },
} satisfies Record<string, TokenRefusal>;

export const PROJECT_NOTICES = {
  project_administrator_kept: {
    cause:
      "the user stays a project's administrator although the claim removes the role: the project has no other",
    remedy: "the operator makes another user an administrator; the user's next token then removes the role",
  },
} as const satisfies Record<string, Explanation>;
