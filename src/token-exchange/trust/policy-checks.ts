// Rules about several properties of an entry: defaults that depend on another property, missing or contradicting properties, and
// warnings.
import { counted, similarName } from '../../platform/text/wording.js';
import { ISSUING_FLOWS } from '../endpoint/flows.js';
import { openPatterns, shownPatterns } from '../workloads/workload-policy.js';
import type { EntryMembers, Row, Rows } from './entry-kinds.js';
import { listed, named, requireStrictly } from './entry-kinds.js';
import type { PolicyDefaults, TrustedKeysRules } from './entry-rules.js';
import type { PolicyMembers } from './policy-rows.js';
import { OF_FOUND_USERS, POLICY } from './policy-rows.js';
import type { TrustPolicy } from './trusted-key.js';
import { comparesAudience, domainsOf, flowsOf } from './trusted-key.js';

type Member = keyof PolicyMembers;

/**
 * The defaults of absent properties, without the contract's, which the code that reads a policy knows.
 * @rule P.strict Absent properties have safe values.
 */
export function defaultsOf(said: PolicyMembers, defaults: PolicyDefaults = 'contract'): PolicyMembers {
  if (defaults === 'contract') return {};
  const values = Object.entries<Row<unknown>>(POLICY).map(([member, row]) => [member, row[defaults]]);
  const unsaid = Object.fromEntries(values) as PolicyMembers;
  if (defaults === 'stored') return unsaid;
  return { ...unsaid, linkExistingUsers: domainsOf(said) !== undefined };
}

/** Entries for which the strict policy does not require a property. */
const EXCUSED: Partial<Record<string, (policy: PolicyMembers) => boolean>> = {
  expectedAudience: (policy) => !comparesAudience(policy),
  allowedRoles: ({ signInAs }) => signInAs !== undefined,
  origins: (policy) => !flowsOf(policy).has('embed'),
  emailDomains: ({ linkExistingUsers, provisionUsers, signInAs }) =>
    signInAs !== undefined || (linkExistingUsers === false && provisionUsers === false),
};

interface Checked {
  readonly said: PolicyMembers;
  /** With its defaults. */
  readonly policy: TrustPolicy;
  readonly rules: TrustedKeysRules;
  readonly isStrict: boolean;
  /** Whether a property is present, even with a problem. */
  readonly has: (member: Member) => boolean;
}

interface Check {
  readonly as: 'problem' | 'warning';
  readonly of: Member;
  readonly text: string | ((checked: Checked) => string);
  readonly where: (checked: Checked) => boolean;
}

/** In the order of the messages. */
const CHECKS: readonly Check[] = [
  ...(['subjects', 'expectedAudience', 'scopes'] as const).map((of): Check => ({
    as: 'problem',
    of,
    text: 'is required with signInAs: otherwise more tokens could act as the user, or could do more',
    where: ({ policy, has }) => policy.signInAs !== undefined && !has(of),
  })),
  {
    as: 'problem',
    of: 'flows',
    text: 'must list only "exchange" and "jwt-bearer" with signInAs: a session would have all rights of its user',
    where: ({ policy }) =>
      policy.signInAs !== undefined &&
      [...flowsOf(policy)].some((flow) => flow !== 'exchange' && flow !== 'jwt-bearer'),
  },
  ...OF_FOUND_USERS.map((of): Check => ({
    as: 'problem',
    of,
    text: 'must not be set with signInAs: the entry names the user',
    where: ({ policy, has }) => policy.signInAs !== undefined && has(of),
  })),
  {
    as: 'problem',
    of: 'scopes',
    text: 'must be listed if flows has "id-jag": an assertion without a scope would get all rights of its user',
    where: ({ policy, has }) => flowsOf(policy).has('id-jag') && !has('scopes'),
  },
  {
    as: 'problem',
    of: 'flows',
    text: 'must not have both "id-jag" and "jwt-bearer": the second does not check the client',
    where: ({ policy }) => flowsOf(policy).has('id-jag') && flowsOf(policy).has('jwt-bearer'),
  },
  {
    as: 'problem',
    of: 'typ',
    text: 'is for embedded logins and token exchanges: flows must list neither "id-jag" nor "jwt-bearer", whose tokens have another typ',
    where: ({ policy }) =>
      policy.typ !== undefined && (flowsOf(policy).has('id-jag') || flowsOf(policy).has('jwt-bearer')),
  },
  {
    as: 'problem',
    of: 'roleClaim',
    text: 'must not be the claim of projects',
    where: ({ policy: { roleClaim, projects } }) => roleClaim !== undefined && roleClaim === projects?.claim,
  },
  {
    as: 'problem',
    of: 'roleMap',
    text: 'maps to a role that allowedRoles lacks, so that its users would be refused',
    where: ({ policy: { roleMap, allowedRoles } }) =>
      [...(roleMap?.values() ?? [])].some((role) => allowedRoles?.has(role) === false),
  },
  {
    as: 'problem',
    of: 'tenants',
    text: 'is for identity assertions only, and flows does not list "id-jag"',
    where: ({ policy }) => policy.tenants !== undefined && !flowsOf(policy).has('id-jag'),
  },
  {
    as: 'problem',
    of: 'clientChoosesResource',
    text: 'needs resources to choose from, and "id-jag" among flows',
    where: ({ policy: { clientChoosesResource, resources, ...policy } }) =>
      clientChoosesResource === true && !((resources?.size ?? 0) > 0 && flowsOf(policy).has('id-jag')),
  },
  {
    as: 'warning',
    of: 'subjects',
    text: ({ policy: { subjects, claims } }) =>
      `may admit jobs that you do not mean, such as pull requests: ${shownPatterns(openPatterns(subjects, claims))}. Write subjects without *, or add claims, such as repository_id and ref`,
    where: ({ policy: { subjects, claims } }) => openPatterns(subjects, claims).size > 0,
  },
  {
    as: 'warning',
    of: 'tenants',
    text: 'has several tenants, and only iss and sub tell their users apart: no two people may have the same sub',
    where: ({ policy }) => (policy.tenants?.size ?? 0) > 1,
  },
  {
    as: 'problem',
    of: 'roleCeiling',
    text: 'needs allowedRoles: it keeps out users with any other role',
    where: ({ policy, isStrict, has }) => !isStrict && policy.roleCeiling === true && !has('allowedRoles'),
  },
  {
    as: 'warning',
    of: 'expectedAudience',
    text: 'is not set, so tokens for other services are accepted too',
    where: ({ policy, isStrict }) =>
      !isStrict && policy.expectedAudience === undefined && comparesAudience(policy),
  },
  {
    as: 'warning',
    of: 'linkPrivileged',
    text: 'a token may take over the account of an administrator by its e-mail address, unless it is false',
    where: ({ policy, isStrict, rules }) => !isStrict && mayLinkToAdministrators(policy, rules),
  },
  {
    as: 'warning',
    of: 'requireActor',
    text: 'does not stop a holder of the key, who can sign an actor token too: leave the issuer of the entry out of actFor',
    // A holder of the key could also sign an actor token, for any user.
    where: ({ policy: { requireActor, actFor, issuer } }) =>
      requireActor === true && actFor?.has(issuer) !== false,
  },
  {
    as: 'warning',
    of: 'scopes',
    text: 'is empty, so every token exchange is refused: list some, or let flows list only "embed"',
    where: ({ policy }) =>
      policy.scopes?.size === 0 && ISSUING_FLOWS.some((flow) => flowsOf(policy).has(flow)),
  },
  {
    as: 'warning',
    of: 'scopes',
    text: (checked) =>
      `has ${counted(unknownScopes(checked).length, 'scope')} that this API does not ask for`,
    where: (checked) => unknownScopes(checked).length > 0 && !checked.has('resources'),
  },
  {
    as: 'warning',
    of: 'allowedRoles',
    text: (checked) => uselessInWords(uselessRoles(checked), checked.rules.assignableRoles),
    where: (checked) => uselessRoles(checked).length > 0,
  },
  {
    as: 'warning',
    of: 'clients',
    text: 'is empty, so every identity assertion is refused',
    where: ({ policy }) => flowsOf(policy).has('id-jag') && (policy.clients?.size ?? 0) === 0,
  },
  {
    as: 'warning',
    of: 'clients',
    text: 'are of no use, since flows does not list "id-jag"',
    where: ({ policy }) =>
      !flowsOf(policy).has('id-jag') &&
      [...(policy.clients?.values() ?? [])].some(({ introspect = false }) => !introspect),
  },
];

/**
 * @rule 5.5.1 Under the strict policy every entry expects an audience.
 * @rule 5.5.2 Under the strict policy every entry limits roles.
 * Under it an entry that links or provisions by e-mail also says of which domains: half of P.emailDomains.
 */
export function checkPolicy(
  members: EntryMembers,
  said: PolicyMembers,
  policy: TrustPolicy,
  rules: TrustedKeysRules,
): void {
  requireStrictly(POLICY, members, rules, (name) => EXCUSED[name]?.(policy) === true);
  const isStrict = rules.defaults === 'strict';
  const checked = { said, policy, rules, isStrict, has: (member: Member) => members.has(member) };
  if (isStrict) warnOfWeakness(members, said);
  for (const { as, of, text, where } of CHECKS)
    if (where(checked)) members[as](of, typeof text === 'string' ? text : text(checked));
}

/** Warns of explicit values that disable the strict policy's default. */
function warnOfWeakness(members: EntryMembers, said: PolicyMembers): void {
  const strict = defaultsOf(said, 'strict');
  for (const [member, { kind, open }] of Object.entries<Row<unknown>>(POLICY)) {
    const value = strict[member as Member];
    if (kind === 'list' || value === undefined || value === open || said[member as Member] !== open) continue;
    members.warning(member, `is weaker than the strict policy, which would be ${JSON.stringify(value)}`);
  }
}

/** `roleCeiling` without their roles prevents it too. */
function mayLinkToAdministrators(policy: PolicyMembers, { privilegedRoles }: TrustedKeysRules): boolean {
  const { linkExistingUsers, linkPrivileged, roleCeiling, allowedRoles, signInAs } = policy;
  const admits =
    roleCeiling !== true ||
    privilegedRoles === undefined ||
    privilegedRoles.some((role) => allowedRoles?.has(role));
  return signInAs === undefined && linkExistingUsers !== false && linkPrivileged !== false && admits;
}

function unknownScopes({ said, rules }: Checked): string[] {
  return [...(said.scopes ?? [])].filter((scope) => rules.scopes?.includes(scope) === false);
}

function uselessRoles({ said, rules }: Checked): string[] {
  return [...(said.allowedRoles ?? [])].filter((role) => !rules.assignableRoles.includes(role));
}

/** Names the nearest role, also for one without its prefix: `member`. */
function uselessInWords(useless: readonly string[], roles: readonly string[]): string {
  const [meant] = useless.flatMap(
    (role) => roles.find((one) => one.endsWith(`:${role.toLowerCase()}`)) ?? similarName(role, roles) ?? [],
  );
  const guess = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `allows ${counted(useless.length, 'role')} that cannot be assigned${guess}; assignable are ${roles.join(', ')}`;
}

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
