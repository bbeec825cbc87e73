// Applies what was decided about a user, in the transaction of the request: the only place where tokens change users and links.
import type { Transaction } from '../../platform/database/transaction.js';
import { LostRaceError } from '../../platform/database/transaction.js';
import type { ProjectChange, ProjectDirectory } from '../host/projects.js';
import type { HostUser, HostUserUpdate, UserDirectory } from '../host/users.js';
import { PROFILE_FIELDS } from '../host/users.js';
import type { RoleNames } from '../settings/token-exchange.options.js';
import { isPrivileged } from '../settings/token-exchange.options.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';
import { readProjects } from './candidates.js';
import type {
  ChangedProjects,
  FoundUser,
  IdentityChange,
  NewUser,
  ResolvedUser,
  UserDecision,
} from './decide.js';
import { decideOnUser, identityOf, isEmpty, isWritten, resolvedUser } from './decide.js';
import type { IdentityLinkRepository } from './identity-link.repository.js';
import type { ProjectSync } from './project-policy.js';

/** Where users and links are written, and which roles there are. */
export interface WrittenUsers {
  readonly links: IdentityLinkRepository;
  readonly users: UserDirectory;
  readonly roles: RoleNames;
  /** Undefined where the host has none. */
  readonly projects?: ProjectDirectory;
}

/**
 * @param decision on rows that were read without a lock: it is made again on those under lock
 * @throws Rejection where the locked rows forbid it
 * @throws LostRaceError where they are others by now; the transaction is to be run again
 */
export async function applyDecision(
  transaction: Transaction,
  token: VerifiedToken,
  decision: UserDecision,
  stored: WrittenUsers,
): Promise<ResolvedUser> {
  if (decision.by === 'provisioning') return provision(transaction, token, decision, stored);
  const found = await underLock(transaction, token, decision, stored);
  const { user, update } = found;
  const links = found.by === 'email' ? [await link(transaction, token, user, stored)] : [];
  if (!isEmpty(update)) await stored.users.update(transaction, user.id, update);
  const projects = await syncProjects(transaction, token, { userId: user.id, sync: found.projects, stored });
  return resolvedUser(found, [...links, ...changesOf(user, update), ...projects], stored.roles);
}

/**
 * Decides again, on rows that no other transaction changes until this one ends. The rows are locked once, as strongly as the
 * first decision needs, because two transactions that share a lock cannot both strengthen it.
 */
async function underLock(
  transaction: Transaction,
  token: VerifiedToken,
  first: FoundUser,
  stored: WrittenUsers,
): Promise<FoundUser> {
  const { by, user } = first;
  const { users, links, roles } = stored;
  const lock = isWritten(first) ? 'update' : 'share';
  // The user first and its links after: a host that deletes a user locks them in this order.
  const locked = await users.lock(transaction, user.id, lock);
  const isThere = by !== 'link' || (await links.lock(transaction, identityOf(token), user.id));
  if (locked === undefined || !isThere) throw new LostRaceError('user or link was deleted meanwhile');
  const projects = await readProjects(transaction, token, { stored, userId: user.id, isLocking: true });
  const decision = decideOnUser(by, token, locked, roles, projects);
  if (lock === 'share' && isWritten(decision)) throw new LostRaceError('this user was changed meanwhile');
  return decision;
}

/** @rule D6 Of parallel first logins one creates the user; the others lose the race and find that user. */
async function provision(
  transaction: Transaction,
  token: VerifiedToken,
  { newUser, projects: sync }: NewUser,
  stored: WrittenUsers,
): Promise<ResolvedUser> {
  const user = await stored.users.create(transaction, newUser);
  if (user === undefined) throw new LostRaceError('this e-mail address was taken by a parallel login');
  await link(transaction, token, user, stored);
  const { id: userId, accessGeneration } = user;
  const made = { kind: 'user-provisioned', userId, role: newUser.role } as const;
  return {
    userId,
    accessGeneration,
    changes: [made, ...(await syncProjects(transaction, token, { userId, sync, stored }))],
  };
}

interface SyncOfUser {
  readonly userId: string;
  readonly sync: ProjectSync | undefined;
  readonly stored: WrittenUsers;
}

/** The digest comes last: a change of memberships clears it, and it locks the membership before the link. */
async function syncProjects(
  transaction: Transaction,
  token: VerifiedToken,
  { userId, sync, stored: { projects, links } }: SyncOfUser,
): Promise<IdentityChange[]> {
  if (sync === undefined || projects === undefined) return [];
  const { changes, digest } = sync;
  const ids = await projects.change(transaction, { issuer: token.claims.iss, userId }, changes);
  await links.setProjectsDigest(transaction, identityOf(token), digest);
  const done = changes.map(({ from, to }, index) => ({ from, to, id: ids[index] ?? '' }));
  const idsOf = (isMeant: (change: Pick<ProjectChange, 'from' | 'to'>) => boolean) =>
    done.filter(isMeant).map(({ id }) => id);
  const changed: ChangedProjects = {
    added: idsOf(({ from }) => from === undefined),
    changed: idsOf(({ from, to }) => from !== undefined && to !== undefined && from !== to),
    removed: idsOf(({ to }) => to === undefined),
  };
  const isNews = Object.values(changed).some((list) => list.length > 0);
  return isNews ? [{ kind: 'projects-updated', userId, ...changed }] : [];
}

/** @rule 2.5.1 An e-mail match or a provisioning leaves a link. */
async function link(
  transaction: Transaction,
  token: VerifiedToken,
  { id: userId, role }: HostUser,
  { links, roles }: WrittenUsers,
): Promise<IdentityChange> {
  const isLinked = await links.insert(transaction, identityOf(token), userId);
  if (!isLinked) throw new LostRaceError('this identity was linked by a parallel login');
  return { kind: 'identity-linked', userId, role, isPrivileged: isPrivileged(role, roles) };
}

function changesOf(
  { id: userId, role: from }: HostUser,
  { role, ...names }: HostUserUpdate,
): IdentityChange[] {
  const fields = PROFILE_FIELDS.filter((name) => names[name] !== undefined);
  return [
    ...(role === undefined ? [] : [{ kind: 'role-updated', userId, from, to: role } as const]),
    ...(fields.length === 0 ? [] : [{ kind: 'profile-updated', userId, fields } as const]),
  ];
}
