// Users, claims and entries at random, for tests of concurrent requests.
import type { Members } from '../../../demo/partner.js';
import { Partner } from '../../../demo/partner.js';
import type { Random } from '../../support/random.js';

const [MEMBER, ADMIN, OWNER] = ['global:member', 'global:admin', 'global:owner'] as const;
const NOT_ROLES = ['global:editor', 'Global:Admin', 'global:admin ', '', '__proto__', "global:member'--"];
/** Few names, so that stored and claimed names are often equal. Names are cut to 32 characters; some have two code units. */
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
  readonly projects?: {
    readonly mayAssign: readonly string[];
    readonly roles: readonly string[];
    readonly create?: boolean;
  };
}

interface Issuer {
  readonly partner: Partner;
  readonly policy: Policy;
}

const PROJECTS = { mayAssign: ['a-*'], roles: ['project:viewer', 'project:editor'] };
/** The lowest first. */
const PROJECT_ROLES = ['project:viewer', 'project:editor', 'project:admin'];

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
  { projects: { ...PROJECTS, create: true } },
  { projects: PROJECTS, linkPrivileged: false },
  { linkPrivileged: false, provisionUsers: false },
];

export const ISSUERS: readonly Issuer[] = POLICIES.map((policy, index) => ({
  partner: Partner.create({ issuer: `https://partner-${index}.example` }),
  policy,
}));

const ASSIGNING = ISSUERS.filter(({ policy }) => policy.projects !== undefined);

/** The user whom a token speaks of, as they were before it. */
export interface UserBefore {
  /** In the one project that the claim of their token may name; undefined: none. */
  readonly membership?: Membership;
  readonly role: string;
  readonly enabled: boolean;
  readonly givenName: string;
  readonly familyName: string;
  readonly isLinked: boolean;
}

/** One of the tokens of an exchange. */
export interface PartyCase {
  readonly issuer: Issuer;
  /** Undefined if no user has the identity or the e-mail address. */
  readonly before: UserBefore | undefined;
  readonly claims: { role?: string; given_name?: string; family_name?: string };
  /** Undefined: the token does not have the claim. */
  readonly projects: ClaimOfProjects | undefined;
  /** Whether there is a project of that key, before a user is in it. */
  readonly hasProject: boolean;
  readonly hasEmail: boolean;
}

/** No project, a project that the entry does not list, or the party's project with this role. */
export type ClaimOfProjects = 'none' | 'another' | (string & {});

/** In a project: what people have given, and what the issuer's last claim has. */
export interface Membership {
  readonly own?: string;
  readonly claimed?: string;
}

export function randomParty(random: Random): PartyCase {
  const claims = {
    role: random.pick([null, MEMBER, MEMBER, ADMIN, ADMIN, OWNER, random.pick(NOT_ROLES)]) ?? undefined,
    given_name: random.pick([null, null, random.pick(NAMES)]) ?? undefined,
    family_name: random.pick([null, null, random.pick(NAMES)]) ?? undefined,
  };
  const projects = random.pick([null, 'none', 'another', ...PROJECT_ROLES, ...PROJECT_ROLES]) ?? undefined;
  return {
    issuer: random.pick([...ISSUERS, ...ASSIGNING, ...ASSIGNING]),
    before: random.below(8) === 0 ? undefined : randomUser(random, claims, projects),
    claims,
    projects,
    hasProject: random.below(2) === 0,
    hasEmail: random.below(6) > 0,
  };
}

/** A random user. Most of the claimed values are stored already. */
function randomUser(
  random: Random,
  { role, given_name: given, family_name: family }: PartyCase['claims'],
  projects: PartyCase['projects'],
): UserBefore {
  const isSoAlready = () => random.below(4) > 0;
  const stored = [MEMBER, ADMIN, OWNER].find((one) => one === role && isSoAlready());
  return {
    role: stored ?? random.pick([MEMBER, ADMIN, OWNER]),
    enabled: random.below(10) > 0,
    givenName: cut(given !== undefined && isSoAlready() ? given : random.pick(NAMES)),
    familyName: cut(family !== undefined && isSoAlready() ? family : random.pick(NAMES)),
    isLinked: random.below(8) > 0,
    membership: randomMembership(random, projects),
  };
}

function randomMembership(random: Random, projects: PartyCase['projects']): Membership | undefined {
  const sameClaim = PROJECT_ROLES.find((role) => role === projects && random.below(4) > 0);
  const claimed = sameClaim ?? random.pick([null, ...PROJECT_ROLES]) ?? undefined;
  const own = random.pick([null, null, ...PROJECT_ROLES]) ?? undefined;
  return own === undefined && claimed === undefined ? undefined : { own, claimed };
}

/** Which counts. */
export function roleIn({ own, claimed }: Membership): string {
  return PROJECT_ROLES.findLast((role) => role === own || role === claimed) ?? '';
}

/** The claims of a token, under a `sub` that only this party of this request has. */
export function claimsOf({ issuer, claims, projects, hasEmail }: PartyCase, sub: string): Members {
  return issuer.partner.claims({
    sub,
    given_name: undefined,
    family_name: undefined,
    ...claims,
    projects: projects && claimOf(projects, sub),
    ...(hasEmail ? {} : { email: undefined }),
  });
}

/** The key of the one project of a party. */
export const keyOf = (sub: string) => `a-${sub}`;

function claimOf(projects: ClaimOfProjects, sub: string): string[] {
  if (projects === 'none') return [];
  return projects === 'another' ? ['b:project:viewer'] : [`${keyOf(sub)}:${projects}`];
}

function cut(name: string): string {
  return Array.from(name).slice(0, 32).join('');
}
