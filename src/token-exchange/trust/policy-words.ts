// What an entry's tokens may do, in words: those of each member's row, and those for several members together.
import type { Row, Rows } from './entry-kinds.js';
import { listed, named } from './entry-kinds.js';
import type { PolicyMembers } from './policy-rows.js';
import { OF_FOUND_USERS, POLICY } from './policy-rows.js';
import type { TrustPolicy } from './trusted-key.js';
import { comparesAudience, domainsOf, flowsOf } from './trusted-key.js';

/** What is said of several members, at the place of one of them. */
const WORDS: Partial<Record<string, (policy: TrustPolicy) => string | undefined>> = {
  expectedAudience: (policy) =>
    policy.expectedAudience === undefined && comparesAudience(policy) ? 'tokens for any audience' : undefined,
  clients(policy) {
    if (!flowsOf(policy).has('id-jag')) return undefined;
    const ids = [...(policy.clients?.keys() ?? [])];
    return ids.length === 0 ? 'assertions of no client' : `assertions of the clients ${listed(ids)}`;
  },
  origins: (policy) =>
    flowsOf(policy).has('embed') && policy.origins === undefined ? 'logins posted by any page' : undefined,
  roleCeiling: ({ roleCeiling, allowedRoles }) =>
    roleCeiling === true && allowedRoles !== undefined
      ? `signs in users with ${named(allowedRoles)} only`
      : undefined,
  excludeOwner({ excludeOwner, roleCeiling, allowedRoles, byAdministrator }) {
    if (byAdministrator === true) return 'never the owner or an administrator';
    if (excludeOwner === true) return 'never the owner';
    return roleCeiling === true && allowedRoles !== undefined ? undefined : 'lets the owner in too';
  },
  linkExistingUsers(policy) {
    if (policy.linkExistingUsers === false) return 'may not link to existing users';
    const whom =
      policy.linkPrivileged === false
        ? 'existing users, but not to administrators'
        : 'existing users, including administrators';
    const verified = policy.requireVerifiedEmail === true ? ' verified' : '';
    return `may link to ${whom}, by${verified} e-mail${ofDomains(policy)}`;
  },
  provisionUsers: (policy) =>
    policy.provisionUsers === false ? 'may not create users' : `may create users${ofDomains(policy)}`,
};

function ofDomains(policy: PolicyMembers): string {
  const domains = domainsOf(policy);
  return domains === undefined ? '' : ` of ${listed(domains)}`;
}

/**
 * What an entry's tokens may do, in phrases.
 * @param now to see whether trust has ended
 */
export function policyInWords(policy: TrustPolicy, now: Date): string[] {
  const unheard: readonly string[] = policy.signInAs === undefined ? [] : OF_FOUND_USERS;
  return Object.entries<Row<unknown>>(POLICY satisfies Rows).flatMap(([member, row]) => {
    if (unheard.includes(member)) return [];
    const joint = WORDS[member];
    return (joint ? joint(policy) : row.words?.(policy[member as keyof PolicyMembers], now)) ?? [];
  });
}
