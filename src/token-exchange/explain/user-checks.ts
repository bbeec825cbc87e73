// The checks by which a token's user is found or made, in the order in which they are made.
import { printable, printableList } from '../../platform/text/printable.js';
import type { HostUser } from '../host/users.js';
import { domainsOf } from '../trust/trust-policy.js';
import { readProjectsClaim } from '../verify/projects-claim.js';
import type { CheckKind, TokenFacts } from './check-kinds.js';
import { emailOf, storedRolesOf } from './shown-values.js';

/** Whether the identity is linked to a user who is there. */
export const isKnown = ({ lookup }: TokenFacts) =>
  typeof lookup?.linked === 'object' && lookup.linked !== null;
/** Also if not looked up yet. */
const mayBeUnknown = (token: TokenFacts) => !isKnown(token);
const mayBeFound = ({ lookup }: TokenFacts) => lookup?.withEmail !== null;

/** How a token's user is found or made. */
export const OF_THE_USER: readonly CheckKind[] = [
  {
    check: 'e-mail',
    about: 'email',
    reasons: ['email_missing'],
    applies: mayBeUnknown,
    compared: ({ payload }) => ['a claim email', emailOf(payload)],
  },
  {
    check: 'e-mail',
    about: 'email_verified',
    reasons: ['email_not_verified'],
    applies: mayBeUnknown,
    compared: ({ policy, payload }) => [
      policy?.requireVerifiedEmail === true ? 'email_verified true' : 'email_verified true, or nothing of it',
      payload?.['email_verified'] === undefined ? 'nothing of it' : JSON.stringify(payload['email_verified']),
    ],
  },
  {
    check: 'e-mail',
    about: 'emailDomains',
    reasons: ['email_domain_not_allowed'],
    applies: mayBeUnknown,
    compared: ({ policy, payload }) => [
      printableList(domainsOf(policy ?? {}) ?? ['any domain']),
      emailOf(payload),
    ],
  },
  {
    check: 'admission',
    about: 'linkExistingUsers',
    reasons: ['linking_not_allowed', 'privileged_linking_not_allowed'],
    applies: (token) => mayBeUnknown(token) && mayBeFound(token),
    compared: ({ policy, lookup }) => [
      policy?.linkExistingUsers === false
        ? 'no user with that e-mail address'
        : policy?.linkPrivileged === false
          ? 'a user who is no administrator'
          : 'a user with that e-mail address',
      lookup?.withEmail?.role ?? 'none',
    ],
  },
  {
    check: 'admission',
    about: 'provisionUsers',
    reasons: ['provisioning_not_allowed'],
    applies: (token) => mayBeUnknown(token) && token.lookup?.withEmail === null,
    compared: ({ policy }) => [
      policy?.provisionUsers === false ? 'a user who is there' : 'a user who may be made',
      'no user with that e-mail address',
    ],
  },
  {
    check: 'user',
    about: 'enabled',
    reasons: ['user_disabled'],
    applies: mayBeFound,
    compared: (token) => [
      'an enabled user',
      userOf(token)?.enabled === false ? 'a disabled one' : 'an enabled one',
    ],
  },
  {
    check: 'user',
    about: 'stored role',
    reasons: ['owner_excluded', 'stored_role_not_allowed'],
    applies: mayBeFound,
    compared: (token) => [storedRolesOf(token.policy), userOf(token)?.role ?? 'none'],
  },
  {
    check: 'role',
    about: 'role',
    reasons: ['role_not_allowed', 'role_not_recognized', 'role_not_assignable'],
    compared: ({ policy, payload }) => [
      policy?.allowedRoles === undefined ? 'every assignable role' : printableList(policy.allowedRoles),
      payload?.['role'] === undefined ? 'no claim' : printable(payload['role']),
    ],
  },
  {
    check: 'projects',
    about: 'projects',
    reasons: ['project_not_allowed', 'project_role_not_allowed', 'project_unknown'],
    applies: ({ policy }) => policy?.projects !== undefined,
    compared: ({ policy, payload = {} }) => {
      const claimed = readProjectsClaim(payload, policy?.projects?.claim);
      const asked = claimed?.map(({ key, role }) => `${key} as ${role}`);
      return [
        printableList(policy?.projects?.mayAssign ?? ['any project']),
        asked ? printableList(asked) : 'no claim',
      ];
    },
  },
];

/** The user whom a token leads to, where there is one. */
export function userOf({ lookup }: TokenFacts): HostUser | undefined {
  return lookup?.linked ?? lookup?.withEmail ?? undefined;
}
