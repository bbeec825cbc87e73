// Why a claim of projects is refused.
import type { Explanation, TokenRefusal } from '../refusals/refusal.js';

export const PROJECT_REFUSALS = {
  project_not_allowed: {
    check: 'projects',
    cause: 'the token names a project that its entry may not assign',
    remedy:
      'the partner corrects the key of the project, or the operator adds the key to `projects.mayAssign` of the entry',
    embed: 'Project is not allowed',
  },
  project_role_not_allowed: {
    check: 'projects',
    cause: 'the token names a role in a project that its entry may not assign',
    remedy:
      'the partner names a role that is expected, or the operator adds the role to `projects.roles` of the entry',
    embed: 'Role in the project is not allowed',
  },
  project_unknown: {
    check: 'projects',
    cause: 'no project has the key that the token names, and the entry may not create one',
    remedy:
      'the operator gives a project this key (`svc-admin projects set-key`), or sets `projects.create` of the entry',
    embed: 'Project is not known',
  },
  too_many_projects: {
    check: 'projects',
    cause: 'claims would make the user a member of more than 100 projects',
    remedy:
      'the partner names fewer projects; the operator ends memberships, or makes others administrators of projects whose last administrator the user is',
    embed: 'User has too many projects',
  },
} satisfies Record<string, TokenRefusal>;

export const PROJECT_NOTICES = {
  project_administrator_kept: {
    cause:
      'the user stays an administrator of a project, although the claim of projects takes that role away: the project has no other administrator',
    remedy:
      'the operator makes another user an administrator of the project; the next token of this user then takes the role away',
  },
} as const satisfies Record<string, Explanation>;
