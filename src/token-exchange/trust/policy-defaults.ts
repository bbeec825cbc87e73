// Defaults of a policy: the contract's rule, or the safe one; and warnings of its risks.
import type { EntryMembers } from './entry-members.js';
import type { Flow } from '../host/flow.js';
import type { TrustPolicy } from './trust-policy.js';
import { domainsOf, flowsOf } from './trust-policy.js';

/**
 * `contract`: as the contract says, open where it is. `stored`: for entries that a command created, which let no owner in.
 * `strict`: only what an entry says is allowed.
 */
export type PolicyDefaults = 'contract' | 'stored' | 'strict';

const NONE: ReadonlySet<string> = new Set();
const WAYS_IN: ReadonlySet<Flow> = new Set<Flow>(['embed', 'exchange']);

/** What the contract's rules make of members that an entry leaves out. */
const OPEN = {
  requireVerifiedEmail: false,
  linkExistingUsers: true,
  linkPrivileged: true,
  provisionUsers: true,
  roleCeiling: false,
  excludeOwner: false,
  requireActor: false,
  rights: 'actor',
} as const satisfies Partial<TrustPolicy>;
const STORED = { linkPrivileged: false, excludeOwner: true } as const satisfies Partial<TrustPolicy>;

/** @rule P.strict What an entry does not say has its safe value. */
function strict(said: Pick<TrustPolicy, 'emailDomains'>) {
  return {
    flows: WAYS_IN,
    requireVerifiedEmail: true,
    linkExistingUsers: domainsOf(said) !== undefined,
    linkPrivileged: false,
    provisionUsers: true,
    roleCeiling: true,
    excludeOwner: true,
    actFor: NONE,
    rights: 'both',
    scopes: NONE,
    resources: NONE,
  } as const satisfies Partial<TrustPolicy>;
}

/** The policy that an entry stands for. */
export function withDefaults(said: TrustPolicy, defaults: PolicyDefaults = 'contract'): TrustPolicy {
  if (defaults === 'contract') return said;
  const unsaid = defaults === 'strict' ? strict(said) : STORED;
  return { ...said, ...onlyMissing(unsaid, said) };
}

/** What a policy needs to mean anything. */
export function refuseGaps(
  members: EntryMembers,
  policy: TrustPolicy,
  defaults: PolicyDefaults | undefined,
): void {
  if (flowsOf(policy).has('id-jag') && !members.has('scopes'))
    members.problem(
      'scopes',
      'must be listed where flows has "id-jag": an assertion without a scope would get all rights of its user',
    );
  if (defaults === 'strict') return refuseStrictGaps(members, policy);
  if (policy.roleCeiling === true && !members.has('allowedRoles'))
    members.problem('roleCeiling', 'needs allowedRoles: it keeps out who has another role');
}

function refuseStrictGaps(members: EntryMembers, policy: TrustPolicy): void {
  for (const [member, unless] of requiredMembers(policy))
    if (!members.has(member)) members.problem(member, `is required by the strict policy${unless}`);
}

/**
 * @rule 5.5.1 Under the strict policy every entry expects an audience.
 * @rule 5.5.2 Under the strict policy every entry limits roles.
 * Under it an entry that links or provisions by e-mail also says of which domains: half of P.emailDomains.
 */
function requiredMembers(policy: TrustPolicy): [member: string, unless: string][] {
  const { linkExistingUsers, provisionUsers } = policy;
  const required: [string, string][] = [['allowedRoles', '']];
  if (comparesAudience(policy)) required.unshift(['expectedAudience', '']);
  if (flowsOf(policy).has('embed')) required.push(['origins', ', unless flows leaves "embed" out']);
  if (linkExistingUsers !== false || provisionUsers !== false)
    required.push([
      'emailDomains',
      ', unless linkExistingUsers and provisionUsers are false; ["*"] is any domain',
    ]);
  return required;
}

/** What holds of members that an entry leaves out. */
export interface LeftOutMembers {
  /** By their names; a list that is not here limits nothing. */
  readonly values: Readonly<Record<string, boolean | string | readonly string[]>>;
  readonly required: readonly string[];
}

/** What holds where an entry leaves a member out, for forms. @param defaults of the entry; where they are strict, it has what is required */
export function leftOutMembers(defaults: Exclude<PolicyDefaults, 'contract'>): LeftOutMembers {
  const isStrict = defaults === 'strict';
  const said = isStrict ? { emailDomains: NONE } : {};
  const policy: Partial<TrustPolicy> = { ...OPEN, ...(isStrict ? strict(said) : STORED) };
  const values = Object.entries({ ...policy, flows: flowsOf(policy) }).map(
    ([member, value]) => [member, value instanceof Set ? [...value] : value] as const,
  );
  return {
    values: Object.fromEntries(values) as LeftOutMembers['values'],
    required: isStrict ? requiredMembers(policy as TrustPolicy).map(([member]) => member) : [],
  };
}

/** An identity assertion is always for this instance. */
export function comparesAudience(policy: TrustPolicy): boolean {
  return flowsOf(policy).has('embed') || flowsOf(policy).has('exchange');
}

/** The members whose strict value a weaker one can stand against. */
const WEAKENED = [
  'requireVerifiedEmail',
  'linkExistingUsers',
  'linkPrivileged',
  'roleCeiling',
  'excludeOwner',
  'rights',
] as const satisfies readonly (keyof ReturnType<typeof strict>)[];

/** The rules for risks. */
interface RiskRules {
  readonly defaults?: PolicyDefaults;
  readonly privilegedRoles?: readonly string[];
}

/** What an operator should know of a policy, although the service starts (D54). */
export function warnOfRisks(
  members: EntryMembers,
  said: TrustPolicy,
  policy: TrustPolicy,
  { defaults = 'contract', privilegedRoles }: RiskRules,
): void {
  if (defaults === 'strict') warnOfWeakness(members, said);
  if (policy.expectedAudience === undefined && comparesAudience(policy) && defaults !== 'strict')
    members.warning('expectedAudience', 'is not set: a token that was made for another service is taken too');
  if (mayLinkToAdministrators(policy, privilegedRoles) && defaults !== 'strict')
    members.warning(
      'linkPrivileged',
      'is not false: by e-mail a token may take over the account of an administrator',
    );
  if (mayActForItself(policy))
    members.warning(
      'requireActor',
      'does not stop a holder of the key: let actFor leave the issuer of the entry out',
    );
  if (policy.scopes?.size === 0 && issuesAccessTokens(policy))
    members.warning(
      'scopes',
      'has none, so every token exchange is refused: list some, or let flows be ["embed"]',
    );
}

function issuesAccessTokens(policy: TrustPolicy): boolean {
  return flowsOf(policy).has('exchange') || flowsOf(policy).has('id-jag');
}

function warnOfWeakness(members: EntryMembers, said: TrustPolicy): void {
  const values: Partial<TrustPolicy> = strict(said);
  for (const member of WEAKENED) {
    if (said[member] === undefined || said[member] === values[member]) continue;
    // Not to link at all is stricter still, so it is no weakness.
    if (member === 'linkExistingUsers' && said[member] === false) continue;
    members.warning(
      member,
      `is weaker than the strict policy, which would be ${JSON.stringify(values[member])}`,
    );
  }
}

/** A ceiling without their roles keeps them out as well. */
function mayLinkToAdministrators(
  policy: TrustPolicy,
  privilegedRoles: readonly string[] | undefined,
): boolean {
  const { linkExistingUsers, linkPrivileged, roleCeiling, allowedRoles } = policy;
  const admits =
    roleCeiling !== true ||
    privilegedRoles === undefined ||
    privilegedRoles.some((role) => allowedRoles?.has(role));
  return linkExistingUsers !== false && linkPrivileged !== false && admits;
}

/** A holder of the key can sign an actor token as well, for any user. */
function mayActForItself({ requireActor, actFor, issuer }: TrustPolicy): boolean {
  return requireActor === true && actFor?.has(issuer) !== false;
}

function onlyMissing<Values extends Partial<TrustPolicy>>(
  values: Values,
  said: TrustPolicy,
): Partial<Values> {
  const missing = Object.entries(values).filter(
    ([member]) => said[member as keyof TrustPolicy] === undefined,
  );
  return Object.fromEntries(missing) as Partial<Values>;
}
