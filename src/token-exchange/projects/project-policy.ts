// The effect of the claim of projects on memberships: which it may give, and what happens to existing ones.
import { printable, printableList } from '../../platform/text/printable.js';
import type { HostProject, ProjectChange, ProjectMembership } from '../host/projects.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { RoleNames } from '../settings/token-exchange.options.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import type { ClaimedProject } from './projects-claim.js';
import { digestOf } from './projects-claim.js';
import type { ProjectsPolicy } from './projects-policy.js';
import { mayAssign } from './projects-policy.js';

/** The maximum number of memberships that claims of all issuers give one user. It bounds the cost of a claim. */
export const MAX_CLAIMED_MEMBERSHIPS = 100;

/** The stored projects of an identity. */
export interface StoredProjects {
  /** The digest of the last applied claim; null or undefined: there was none, or memberships have changed since. */
  readonly digest?: string | null;
  /** Undefined if they were not read: the changes by another claim are unknown then. */
  readonly projects?: readonly HostProject[];
}

/** The changes of memberships by a claim. */
export interface ProjectSync {
  /** Undefined: the claim was not applied completely, so the next token applies it again. */
  readonly digest?: string;
  readonly changes: readonly ProjectChange[];
  /** Ids of projects whose last administrator the user stays, against the claim. */
  readonly keptIds: readonly string[];
}

/** The rules for a claim. */
interface ClaimRules {
  readonly issuer: string;
  readonly policy: ProjectsPolicy;
  /** The roles that the entry may give. */
  readonly allowed: ReadonlySet<string>;
  /** The lowest first. */
  readonly roles: readonly string[];
}

/** The effect on one membership: none, a change, or none against the claim. */
interface Outcome {
  readonly change?: ProjectChange;
  readonly keptId?: string;
}

/**
 * Undefined if nothing changes, because the claim was applied last.
 * @rule D134 Memberships from an issuer follow its claim. Memberships given by people stay, and keep a higher role.
 * @throws OAuthRefusal `project_not_allowed`, `project_role_not_allowed`, `project_unknown`, `too_many_projects`
 */
export function decideOnProjects(
  claimed: readonly ClaimedProject[],
  { claims: { iss: issuer }, key }: VerifiedToken,
  { digest: synced, projects }: StoredProjects,
  { inProject: roles = [] }: RoleNames,
): ProjectSync | undefined {
  const { projects: policy } = key.policy;
  if (policy === undefined) return undefined;
  const rules = { issuer, policy, allowed: policy.roles ?? new Set(roles), roles };
  for (const one of claimed) refuseUnassignable(one, rules);
  const digest = digestOf(claimed, policy);
  if (digest === synced) return undefined;
  if (projects === undefined) return { changes: [], keptIds: [] };
  const heldIds = new Set(projects.filter(isByClaim).map(({ id }) => id));
  if (heldIds.size > MAX_CLAIMED_MEMBERSHIPS) throw tooManyProjects('more');
  const byKey = new Map(projects.map((project) => [project.key, project]));
  const claimedKeys = new Set<string | null>(claimed.map((one) => one.key));
  const outcomes = [
    ...claimed.map((one) => outcomeOfClaim(one, byKey.get(one.key), rules)),
    ...projects
      .filter(({ key }) => !claimedKeys.has(key))
      .map((project) => outcomeWithoutClaim(project, rules)),
  ];
  const keptIds = outcomes.flatMap(({ keptId }) => keptId ?? []);
  const changes = outcomes.flatMap(({ change }) => change ?? []);
  refuseTooMany(changes, heldIds);
  return { digest: keptIds.length === 0 ? digest : undefined, changes, keptIds };
}

/** @rule P.projects A project or a role that the entry does not list is refused; see `couldHaveGiven` for existing memberships. */
function refuseUnassignable({ key, role }: ClaimedProject, { policy, allowed }: ClaimRules): void {
  if (!mayAssign(policy, key))
    throw new OAuthRefusal('project_not_allowed', {
      expected: printableList(policy.mayAssign ?? []),
      found: printable(key),
    });
  if (!allowed.has(role))
    throw new OAuthRefusal('project_role_not_allowed', {
      expected: printableList(allowed),
      found: printable(role),
    });
}

function isByClaim({ member }: HostProject): boolean {
  return member !== null && member.issuer !== null;
}

/** Bounds the memberships, because those whose last administrator the user is stay against the claim and could add up. */
function refuseTooMany(changes: readonly ProjectChange[], heldIds: ReadonlySet<string>): void {
  const gained = changes.filter(({ id, isClaimed }) => isClaimed && (id === undefined || !heldIds.has(id)));
  const lost = changes.filter(({ isClaimed }) => !isClaimed);
  const count = heldIds.size + gained.length - lost.length;
  if (count > MAX_CLAIMED_MEMBERSHIPS) throw tooManyProjects(String(count));
}

function tooManyProjects(found: string): OAuthRefusal {
  const expected = `at most ${MAX_CLAIMED_MEMBERSHIPS} memberships by claims`;
  return new OAuthRefusal('too_many_projects', { expected, found });
}

/**
 * A missing project is created only if the entry says so. Otherwise the token is refused, because a user
 * without the project would fail later, further from the cause.
 */
function outcomeOfClaim(
  { key, role }: ClaimedProject,
  project: HostProject | undefined,
  rules: ClaimRules,
): Outcome {
  const { issuer, policy, roles } = rules;
  if (project === undefined) {
    if (policy.create) return { change: { key, to: role, isClaimed: true } };
    throw new OAuthRefusal('project_unknown', { expected: 'the key of a project', found: printable(key) });
  }
  const { id, member } = project;
  if (member === null) return { change: { id, key, to: role, isClaimed: true } };
  // The issuer whose claim gave a membership keeps it until that claim removes it.
  if (member.issuer !== null && member.issuer !== issuer) return {};
  if (!couldHaveGiven(project, member, rules)) return {};
  const to = higherOf(member.ownRole, role, roles);
  if (to === member.role && member.issuer === issuer) return {};
  return changeUnlessLast({ id, key }, member, { to, isClaimed: true });
}

function outcomeWithoutClaim({ id, key, member }: HostProject, rules: ClaimRules): Outcome {
  if (member?.issuer !== rules.issuer || !couldHaveGiven({ key }, member, rules)) return {};
  return changeUnlessLast({ id, key }, member, { to: member.ownRole ?? undefined, isClaimed: false });
}

/**
 * An entry does not change its issuer's other memberships. If people gave the same role, removing the claim removes nothing. A
 * project without a key is in no list.
 */
function couldHaveGiven(
  { key }: Pick<HostProject, 'key'>,
  { role, ownRole }: ProjectMembership,
  { policy, allowed }: ClaimRules,
): boolean {
  return (key === null || mayAssign(policy, key)) && (role === ownRole || allowed.has(role));
}

/** Without an administrator no member could manage the project. */
function changeUnlessLast(
  project: Pick<HostProject, 'id' | 'key'>,
  { role: from, isLastAdministrator }: ProjectMembership,
  change: Pick<ProjectChange, 'to' | 'isClaimed'>,
): Outcome {
  return isLastAdministrator && change.to !== from
    ? { keptId: project.id }
    : { change: { ...project, from, ...change } };
}

function higherOf(own: string | null, claimed: string, roles: readonly string[]): string {
  return own !== null && roles.indexOf(own) > roles.indexOf(claimed) ? own : claimed;
}
