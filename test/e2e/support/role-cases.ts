// Users, claims and entries at random, and what the role table of 4.4 makes of them: written down from the contract alone.
import type { Members } from '../../../demo/partner.js';
import { Partner } from '../../../demo/partner.js';
import type { Random } from '../../support/random.js';

const [MEMBER, ADMIN, OWNER] = ['global:member', 'global:admin', 'global:owner'] as const;
const NOT_ROLES = [
  'global:editor',
  'Global:Admin',
  'global:admin ',
  'member',
  '',
  '__proto__',
  "global:member'--",
];
/** Few, so that what is stored is often what is claimed; cut to 32 characters, of which some are not one code unit. */
const NAMES = ['', 'Ada', 'ada', 'x'.repeat(32), 'x'.repeat(33), '😀'.repeat(33)];

/** What an entry says of users. */
interface Policy {
  /** Undefined: all. */
  readonly allowedRoles?: readonly string[];
  readonly roleCeiling?: boolean;
  readonly excludeOwner?: boolean;
  readonly linkExistingUsers?: boolean;
  readonly linkPrivileged?: boolean;
  readonly provisionUsers?: boolean;
}

interface Issuer {
  readonly partner: Partner;
  readonly policy: Policy;
}

/** Twice as many without a policy beyond the contract's as with one. */
const POLICIES: readonly Policy[] = [
  {},
  {},
  { allowedRoles: [MEMBER] },
  { allowedRoles: [ADMIN] },
  { allowedRoles: [MEMBER, ADMIN] },
  { allowedRoles: [] },
  { excludeOwner: true },
  { allowedRoles: [MEMBER], roleCeiling: true },
  { allowedRoles: [MEMBER, ADMIN], roleCeiling: true, excludeOwner: true },
  { allowedRoles: [ADMIN, OWNER], roleCeiling: true, linkPrivileged: false },
  { linkExistingUsers: false },
  { linkPrivileged: false, provisionUsers: false },
];

export const ISSUERS: readonly Issuer[] = POLICIES.map((policy, index) => ({
  partner: Partner.create({ issuer: `https://partner-${index}.example` }),
  policy,
}));

/** The user whom a token speaks of, as they were before it. */
export interface UserBefore {
  readonly role: string;
  readonly enabled: boolean;
  readonly givenName: string;
  readonly familyName: string;
  readonly isLinked: boolean;
}

/** One of the tokens of an exchange. */
export interface PartyCase {
  readonly issuer: Issuer;
  /** Undefined: nobody has the identity or the e-mail address. */
  readonly before: UserBefore | undefined;
  readonly claims: { role?: string; given_name?: string; family_name?: string };
  readonly hasEmail: boolean;
}

/** The user as a token leaves them, the events of what it changed, and whether the operator is told. */
export interface Accepted {
  readonly role: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly changes: readonly string[];
  readonly isWarned: boolean;
}

/** What a token comes to by itself: nobody else is changed by it. */
export type PartyEnd = Accepted | { readonly refusal: string };

export function isAccepted(end: PartyEnd): end is Accepted {
  return !('refusal' in end);
}

export function randomParty(random: Random): PartyCase {
  const claims = {
    role: random.pick([null, MEMBER, MEMBER, ADMIN, ADMIN, OWNER, random.pick(NOT_ROLES)]) ?? undefined,
    given_name: random.pick([null, null, random.pick(NAMES)]) ?? undefined,
    family_name: random.pick([null, null, random.pick(NAMES)]) ?? undefined,
  };
  return {
    issuer: random.pick(ISSUERS),
    before: random.below(8) === 0 ? undefined : randomUser(random, claims),
    claims,
    hasEmail: random.below(6) > 0,
  };
}

/** In most of what is claimed the user is so already. */
function randomUser(
  random: Random,
  { role, given_name: given, family_name: family }: PartyCase['claims'],
): UserBefore {
  const isSoAlready = () => random.below(4) > 0;
  const stored = [MEMBER, ADMIN, OWNER].find((one) => one === role && isSoAlready());
  return {
    role: stored ?? random.pick([MEMBER, ADMIN, OWNER]),
    enabled: random.below(10) > 0,
    givenName: cut(given !== undefined && isSoAlready() ? given : random.pick(NAMES)),
    familyName: cut(family !== undefined && isSoAlready() ? family : random.pick(NAMES)),
    isLinked: random.below(8) > 0,
  };
}

/** The claims of a token, under a `sub` that only this party of this request has. */
export function claimsOf({ issuer, claims, hasEmail }: PartyCase, sub: string): Members {
  return issuer.partner.claims({
    sub,
    given_name: undefined,
    family_name: undefined,
    ...claims,
    ...(hasEmail ? {} : { email: undefined }),
  });
}

export function endOf({ issuer: { policy }, before, claims, hasEmail }: PartyCase): PartyEnd {
  if (before?.isLinked !== true && !hasEmail) return { refusal: 'email_missing' };
  if (before === undefined) return newUserEnd(claims.role, policy, namesAfter(claims));
  const refusal = linkRefusal(before, policy) ?? stateRefusal(before, policy);
  if (refusal !== undefined) return { refusal };
  return existingUserEnd(before, claims.role, policy, namesAfter(claims, before));
}

function linkRefusal({ isLinked, role }: UserBefore, policy: Policy): string | undefined {
  if (isLinked) return undefined;
  if (policy.linkExistingUsers === false) return 'linking_not_allowed';
  return policy.linkPrivileged === false && role !== MEMBER ? 'privileged_linking_not_allowed' : undefined;
}

/** By what is stored, before the claim is looked at. */
function stateRefusal({ enabled, role }: UserBefore, policy: Policy): string | undefined {
  if (!enabled) return 'user_disabled';
  if (policy.excludeOwner === true && role === OWNER) return 'owner_excluded';
  return policy.roleCeiling === true && !isAllowed(role, policy) ? 'stored_role_not_allowed' : undefined;
}

function isAllowed(role: string, { allowedRoles }: Policy): boolean {
  return allowedRoles?.includes(role) ?? true;
}

type Names = Pick<UserBefore, 'givenName' | 'familyName'>;

function namesAfter(claims: PartyCase['claims'], before: Names = { givenName: '', familyName: '' }): Names {
  return {
    givenName: cut(claims.given_name ?? before.givenName),
    familyName: cut(claims.family_name ?? before.familyName),
  };
}

function newUserEnd(claim: string | undefined, policy: Policy, names: Names): PartyEnd {
  const changes = ['user-provisioned'];
  if (policy.provisionUsers === false) return { refusal: 'provisioning_not_allowed' };
  if (claim === undefined && policy.roleCeiling === true && !isAllowed(MEMBER, policy))
    return { refusal: 'role_not_allowed' };
  if (claim === undefined) return { role: MEMBER, ...names, changes, isWarned: false };
  if (claim === OWNER) return { refusal: 'role_not_assignable' };
  if (claim !== MEMBER && claim !== ADMIN) return { refusal: 'role_not_recognized' };
  if (!isAllowed(claim, policy)) return { refusal: 'role_not_allowed' };
  return { role: claim, ...names, changes, isWarned: false };
}

function existingUserEnd(
  { role, isLinked, givenName, familyName }: UserBefore,
  claim: string | undefined,
  policy: Policy,
  names: Names,
): PartyEnd {
  const telling = role === MEMBER ? [] : ['privileged-identity-linked'];
  const linking = isLinked ? [] : ['identity-linked', ...telling];
  const isRenamed = names.givenName !== givenName || names.familyName !== familyName;
  const renaming = isRenamed ? ['profile-updated'] : [];
  const kept = { role, ...names, changes: [...linking, ...renaming], isWarned: false };
  if (role === OWNER || claim === undefined) return kept;
  if (claim !== MEMBER && claim !== ADMIN) return { ...kept, isWarned: true };
  if (!isAllowed(claim, policy)) return { refusal: 'role_not_allowed' };
  if (claim === role) return kept;
  return { ...kept, role: claim, changes: [...linking, 'role-updated', ...renaming] };
}

function cut(name: string): string {
  return Array.from(name).slice(0, 32).join('');
}
