// Decides which local users the verified tokens of a request mean, and what they change. Pure: stored data are arguments.
import { firstCharacters } from '../../platform/text/characters.js';
import type { AuditEvent } from '../audit/audit-trail.js';
import type { ExternalIdentity, HostUser, HostUserUpdate, NewHostUser, ProfileField } from '../host/users.js';
import { PROFILE_FIELDS } from '../host/users.js';
import type { ProjectSync, StoredProjects } from '../projects/project-policy.js';
import { decideOnProjects } from '../projects/project-policy.js';
import type { RefusalContext, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { inContext, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { RoleNames } from '../settings/token-exchange.options.js';
import type { PerToken, Tokens, VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import type { Seats } from './admission-policy.js';
import { checkLink, checkProvisioning, checkSeats, linkableEmail } from './admission-policy.js';
import type { IdentityLink } from './identity-link.repository.js';
import type { Voucher } from './role-policy.js';
import {
  askedRole,
  checkStoredRole,
  checkVouchers,
  ownerExcluded,
  roleOfExistingUser,
  roleOfNewUser,
} from './role-policy.js';

/** The user of a link. */
export interface LinkedUser extends HostUser, Omit<IdentityLink, 'userId'> {}

/** The linked users of a request's tokens, from one snapshot of the database. */
export type LinkedUsers = Partial<PerToken<LinkedUser>>;

/** A change made by a token, for the audit events. */
export type IdentityChange =
  | { kind: 'user-provisioned'; userId: string; role: string }
  | { kind: 'identity-linked'; userId: string; role: string; isPrivileged: boolean }
  | { kind: 'role-updated'; userId: string; from: string; to: string }
  | { kind: 'profile-updated'; userId: string; fields: readonly ProfileField[] }
  | ({ kind: 'projects-updated'; userId: string } & ChangedProjects);

/** Ids of projects, by the change of the membership. */
export type ChangedProjects = Readonly<Record<'added' | 'changed' | 'removed', readonly string[]>>;

/** The local user of a token, and what finding it changed. */
export interface ResolvedUser {
  readonly userId: string;
  readonly accessGeneration?: string;
  readonly changes: readonly IdentityChange[];
  /** If the role claim was ignored (4.4.role.5): the roles that can be assigned, and the one that was sent. */
  readonly ignoredRole?: Pick<RefusalContext, 'expected' | 'found'>;
  /** Ids of projects whose last administrator the user stays, against the claim. */
  readonly keptProjects?: readonly string[];
}

export type Users = PerToken<ResolvedUser>;

/** The users' ids for the audit trail. */
export function idsOf({ subject, actor }: Users): Pick<AuditEvent, 'subjectUserId' | 'actorUserId'> {
  return { subjectUserId: subject.userId, actorUserId: actor?.userId };
}

/** An ignored role claim for the audit trail: the sent role, and the assignable ones. */
export function ignoredRoleOf({ subject, actor }: Users): { ignoredRole?: string; assignableRoles?: string } {
  const { expected, found } = subject.ignoredRole ?? actor?.ignoredRole ?? {};
  return { ignoredRole: found, assignableRoles: expected };
}

/**
 * The users of a request that changes nothing about them, so that its success can be recorded. Undefined if a transaction is
 * needed: something is written, the entry names its user, or no user was found. If the first token changes something, the second
 * is not decided on, because both may belong to one user.
 * @throws OAuthRefusal if the stored identity, role or state forbids it
 */
export function decideRequest(tokens: Tokens, linked: LinkedUsers, roles: RoleNames): Users | undefined {
  const users: Partial<Record<SubjectOrActor, ResolvedUser>> = {};
  for (const { party, token } of inOrder(tokens)) {
    // The transaction reads the user whom an entry names, even if the identity is linked.
    const user = token.key.policy.signInAs === undefined ? linked[party] : undefined;
    const resolved = user && resolveUnchanged({ party, token }, user, roles);
    if (resolved === undefined) return undefined;
    users[party] = resolved;
  }
  const { subject, actor } = users;
  return subject && { subject, actor };
}

/**
 * The user that a request creates if no stored user has its e-mail address, which only the creation can tell. Undefined if a
 * transaction must decide: the identity is linked, more than a user is written, or the rules about new users refuse the token, which
 * another user's address may change.
 */
export function newUserOf(
  { subject, actor }: Tokens,
  linked: LinkedUsers,
  roles: RoleNames,
): NewHostUser | undefined {
  const { claims, key } = subject;
  const isAlone = actor === undefined && claims.projects === undefined;
  if (linked.subject !== undefined || !isAlone || key.policy.signInAs !== undefined) return undefined;
  try {
    const decision = decide(subject, {}, roles);
    return decision.by === 'provisioning' ? decision.newUser : undefined;
  } catch (error) {
    if (error instanceof OAuthRefusal) return undefined;
    throw error;
  }
}

/** A user that a token has created. */
export function provisionedUser({
  id: userId,
  role,
  accessGeneration,
}: Pick<HostUser, 'id' | 'role' | 'accessGeneration'>): ResolvedUser {
  return { userId, accessGeneration, changes: [{ kind: 'user-provisioned', userId, role }] };
}

/** One token of a request. */
interface Party {
  readonly party: SubjectOrActor;
  readonly token: VerifiedToken;
}

/**
 * Sorts the tokens by identity, so that two exchanges with swapped subject and actor lock rows in the same order.
 */
export function inOrder({ subject, actor }: Tokens): readonly Party[] {
  const first = { party: 'subject', token: subject } as const;
  if (actor === undefined) return [first];
  const second = { party: 'actor', token: actor } as const;
  return sortKeyOf(actor) < sortKeyOf(subject) ? [second, first] : [first, second];
}

function sortKeyOf({ claims: { iss, sub } }: VerifiedToken): string {
  return JSON.stringify([iss, sub]);
}

function resolveUnchanged(
  { party, token }: Party,
  user: LinkedUser,
  roles: RoleNames,
): ResolvedUser | undefined {
  try {
    const { byAdministrator, projectsDigest: digest } = user;
    const decision = decide(token, { linked: user, byAdministrator, projects: { digest } }, roles);
    return 'newUser' in decision || isWritten(decision)
      ? undefined
      : resolvedUser(decision, token, [], roles);
  } catch (error) {
    throw inContext(error, { party, ...issuerAndKid(token) });
  }
}

export function resolvedUser(
  { user, ignoresRoleClaim, projects }: FoundUser,
  { claims }: Pick<VerifiedToken, 'claims'>,
  changes: readonly IdentityChange[],
  roles: RoleNames,
): ResolvedUser {
  const { id: userId, accessGeneration } = user;
  const ignoredRole = ignoresRoleClaim ? askedRole(claims.role, roles) : undefined;
  return { userId, accessGeneration, changes, ignoredRole, keptProjects: projects?.keptIds };
}

/** The stored users that a token may mean. */
export interface Candidates extends Voucher {
  /** The user that the identity is linked to. */
  readonly linked?: HostUser;
  /** The user to whom the identity was linked, if the host has since deleted that user. */
  readonly deletedUserId?: string;
  /** The user whom the entry names (`signInAs`). If there is one, no other is searched. */
  readonly named?: HostUser;
  /** The user with the token's e-mail address; searched only if no user is linked. */
  readonly withEmail?: HostUser;
  /** The projects of the identity and its user. */
  readonly projects?: StoredProjects;
  /** Undefined: no limit, or the user has a seat. */
  readonly seats?: Seats;
}

/** A stored user whom the token may sign in. */
export interface FoundUser {
  readonly by: 'link' | 'email' | 'entry';
  /** The stored user. */
  readonly user: HostUser;
  /** The changes by the claims. */
  readonly update: HostUserUpdate;
  /** What the claim of projects changes; undefined: nothing. */
  readonly projects?: ProjectSync;
  /** Whether the role claim is ignored, since it does not name an assignable role. */
  readonly ignoresRoleClaim: boolean;
}

/** A user whom the token creates. */
export interface NewUser {
  readonly by: 'provisioning';
  readonly newUser: NewHostUser;
  readonly projects?: ProjectSync;
}

export type UserDecision = FoundUser | NewUser;

const MAX_NAME_CHARACTERS = 32;

/**
 * The one place that decides on a user, for subject and actor of every flow: before a transaction, in it, and in explanations.
 * @rule 4.4.1 A linked identity is its user. If the host has deleted that user, the identity is unknown again.
 * @rule 4.4.2 An unknown identity is linked to the user who has its e-mail address.
 * @rule 4.4.3 = 7.10 If no user has the e-mail address, a new user is created.
 * @throws OAuthRefusal if identity, e-mail, role or the user's state forbids it
 */
export function decide(token: VerifiedToken, candidates: Candidates, roles: RoleNames): UserDecision {
  const { linked, withEmail, named, projects, byAdministrator, seats } = candidates;
  if (token.key.policy.signInAs !== undefined) return decideOnNamedUser(token, named, roles);
  if (linked !== undefined)
    return decideOnUser('link', token, linked, roles, { ...projects, byAdministrator });
  const email = linkableEmail(token.claims, token.key.policy);
  checkSeats(seats);
  if (withEmail !== undefined) return decideOnUser('email', token, withEmail, roles, projects);
  return decideOnNewUser(token, email, roles, projects);
}

/** Whether the token changes the user or the user's projects. */
export function isWritten({ update, projects }: FoundUser): boolean {
  return projects !== undefined || !isEmpty(update);
}

export function isEmpty(update: HostUserUpdate): boolean {
  return Object.keys(update).length === 0;
}

export function identityOf({ claims: { iss, sub } }: VerifiedToken): ExternalIdentity {
  return { issuer: iss, subject: sub };
}

/**
 * `decide` for a user who was found: by the link of the identity, by its e-mail address, or by name in the entry.
 * @rule 4.4.4 = 4.4 = 2.2.10 A valid role claim wins over the stored role at every login.
 * @throws OAuthRefusal as `decide`
 */
export function decideOnUser(
  by: FoundUser['by'],
  token: VerifiedToken,
  user: HostUser,
  roles: RoleNames,
  stored: StoredProjects & Voucher = {},
): FoundUser {
  if (by === 'entry') return decideOnNamedUser(token, user, roles);
  const { claims, key } = token;
  const { policy } = key;
  if (by === 'email') checkLink(user, policy, roles);
  refuseUserOfAssertion(token, user.id);
  refuseDisabled(user);
  checkStoredRole(user, policy, roles);
  checkVouchers(user, [policy, stored], roles);
  const role = roleOfExistingUser(user.role, claims.role, policy, roles);
  const update = {
    ...(role.kind === 'change' ? { role: role.role } : {}),
    ...changedNames(claims, user),
  };
  const projects = claims.projects && decideOnProjects(claims.projects, token, stored, roles);
  return { by, user, update, projects, ignoresRoleClaim: role.kind === 'ignore-claim' };
}

/**
 * Role, projects and names in the token are ignored.
 * @rule P.signInAs A job acts as the user whom its entry names, and never as the owner.
 */
function decideOnNamedUser(
  { key: { policy } }: VerifiedToken,
  user: HostUser | undefined,
  roles: RoleNames,
): FoundUser {
  if (user === undefined) {
    const values = { expected: 'the id of a user in signInAs', found: 'that of no user' };
    throw new OAuthRefusal('named_user_unknown', { userId: policy.signInAs, ...values });
  }
  refuseDisabled(user);
  if (user.role === roles.owner) throw ownerExcluded(user);
  checkVouchers(user, [policy], roles);
  return { by: 'entry', user, update: {}, ignoresRoleClaim: false };
}

function decideOnNewUser(
  token: VerifiedToken,
  email: string,
  roles: RoleNames,
  stored: StoredProjects = {},
): NewUser {
  const { claims, key } = token;
  const { givenName = '', familyName = '' } = claims;
  refuseUserOfAssertion(token);
  checkProvisioning(key.policy);
  const role = roleOfNewUser(claims.role, key.policy, roles);
  const names = { givenName: truncated(givenName), familyName: truncated(familyName) };
  const projects = claims.projects && decideOnProjects(claims.projects, token, stored, roles);
  return { by: 'provisioning', newUser: { email, role, ...names }, projects };
}

/** Refuses an identity assertion whose `aud_sub` names another user. The claim neither finds nor selects a user. */
function refuseUserOfAssertion({ assertion }: VerifiedToken, userId?: string): void {
  if (assertion?.localUserId === undefined || assertion.localUserId === userId) return;
  const found = userId === undefined ? 'a user who is to be made' : 'another user';
  throw new OAuthRefusal('user_mismatch', { userId, expected: 'the user whom aud_sub names', found });
}

/** Applies to subject and actor of every flow (D7). */
function refuseDisabled({ enabled, id: userId }: HostUser): void {
  if (enabled) return;
  const values = { expected: 'a user who is enabled', found: 'a disabled one' };
  throw new OAuthRefusal('user_disabled', { userId, ...values });
}

/** @rule 2.5.3 = 2.2.8 = 2.2.9 = 8.12 Names are cut to 32 characters and written only if they differ. */
function changedNames(claims: VerifiedToken['claims'], user: HostUser): HostUserUpdate {
  const names = PROFILE_FIELDS.map((field) => [field, claims[field] && truncated(claims[field])] as const);
  return Object.fromEntries(names.filter(([field, name]) => name !== undefined && name !== user[field]));
}

function truncated(name: string): string {
  return firstCharacters(name, MAX_NAME_CHARACTERS);
}
