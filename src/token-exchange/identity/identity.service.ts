// Finds the local users of verified tokens in a transaction, and links, creates and changes them. No other code does this for
// tokens.
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { LostRaceError } from '../../platform/database/transaction.js';
import type { ProjectChange } from '../host/projects.js';
import { ProjectDirectory } from '../host/projects.js';
import type { HostUser, HostUserUpdate, NewHostUser } from '../host/users.js';
import { PROFILE_FIELDS, UserDirectory } from '../host/users.js';
import { NewProjectThrottle } from '../projects/new-project-throttle.js';
import type { ProjectSync } from '../projects/project-policy.js';
import type { SubjectOrActor } from '../refusals/oauth-refusal.js';
import { inContext } from '../refusals/oauth-refusal.js';
import type { RoleNames, TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { Tokens, VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import { readCandidates, readProjects, seatLimit, withSeats } from './candidates.js';
import type {
  Candidates,
  ChangedProjects,
  FoundUser,
  IdentityChange,
  LinkedUsers,
  NewUser,
  ResolvedUser,
  UserDecision,
  Users,
} from './decide.js';
import {
  decide,
  decideOnUser,
  identityOf,
  inOrder,
  isEmpty,
  isWritten,
  newUserOf,
  provisionedUser,
  resolvedUser,
} from './decide.js';
import { IdentityLinkRepository } from './identity-link.repository.js';
import { isPrivileged } from './role-policy.js';
import { SeatRepository } from './seat.repository.js';

@Injectable()
export class IdentityService {
  private readonly roles: RoleNames;

  constructor(
    readonly links: IdentityLinkRepository,
    readonly users: UserDirectory,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { roles }: Pick<TokenExchangeOptions, 'roles'>,
    private readonly newProjects: NewProjectThrottle,
    readonly seats: SeatRepository,
    readonly keys: TrustedKeyService,
    @Optional() readonly projects?: ProjectDirectory,
  ) {
    this.roles = roles;
  }

  /**
   * Decides on the stored users, and applies the decision.
   * @throws OAuthRefusal when identity, e-mail, role or the user's state forbid it
   * @throws LostRaceError if a parallel request won; run the transaction again
   * @throws TooManyRequestsError if the entry creates too many projects
   */
  async resolve(transaction: Transaction, tokens: Tokens): Promise<Users> {
    const users: Partial<Record<SubjectOrActor, ResolvedUser>> = {};
    for (const { party, token } of inOrder(tokens)) {
      try {
        users[party] = await this.resolveOne(transaction, token);
      } catch (error) {
        throw inContext(error, { party, ...issuerAndKid(token) });
      }
    }
    return users as Users;
  }

  /** The user that the request creates, unless a transaction must decide. */
  newUserOf(tokens: Tokens, linked: LinkedUsers): NewHostUser | undefined {
    if (this.keys.maxUsersOf(tokens.subject.claims.iss) !== undefined) return undefined;
    return newUserOf(tokens, linked, this.roles);
  }

  private async resolveOne(transaction: Transaction, token: VerifiedToken): Promise<ResolvedUser> {
    const candidates = await this.candidates(transaction, token);
    const decision = decide(token, candidates, this.roles);
    const { deletedUserId } = candidates;
    if (deletedUserId !== undefined) await this.links.forget(transaction, identityOf(token), deletedUserId);
    return this.apply(transaction, token, decision);
  }

  /** Who waits for a seat reads again, since the identity may have been linked meanwhile. Known users wait for nobody. */
  private async candidates(transaction: Transaction, token: VerifiedToken): Promise<Candidates> {
    const found = await readCandidates(transaction, token, this);
    if (seatLimit(token, found, this) === undefined) return found;
    await this.seats.lock(transaction, token.claims.iss);
    return withSeats(transaction, token, await readCandidates(transaction, token, this), this);
  }

  private async apply(
    transaction: Transaction,
    token: VerifiedToken,
    decision: UserDecision,
  ): Promise<ResolvedUser> {
    if (decision.by === 'provisioning') return this.provision(transaction, token, decision);
    const found = await this.underLock(transaction, token, decision);
    const { user, update } = found;
    const links = found.by === 'email' ? [await this.link(transaction, token, user, false)] : [];
    if (!isEmpty(update)) await this.users.update(transaction, user.id, update);
    const projects = await this.syncProjects(transaction, token, user.id, found.projects);
    return resolvedUser(found, token, [...links, ...changesOf(user, update), ...projects], this.roles);
  }

  /**
   * Decides again on locked rows. The rows are locked once, as strongly as the
   * first decision needs, because two transactions that share a lock cannot both strengthen it.
   */
  private async underLock(
    transaction: Transaction,
    token: VerifiedToken,
    first: FoundUser,
  ): Promise<FoundUser> {
    const { by, user } = first;
    const lock = isWritten(first) ? 'update' : 'share';
    // The user first, then the links: a host that deletes a user locks them in this order.
    const locked = await this.users.lock(transaction, user.id, lock);
    const link = by === 'link' ? await this.links.lock(transaction, identityOf(token), user.id) : undefined;
    if (locked === undefined || (by === 'link' && link === undefined))
      throw new LostRaceError('user or link was deleted meanwhile');
    const of = { userId: user.id, digest: link?.projectsDigest, isLocking: true };
    const projects = await readProjects(transaction, token, this.projects, of);
    const { byAdministrator } = link ?? {};
    const decision = decideOnUser(by, token, locked, this.roles, { ...projects, byAdministrator });
    if (lock === 'share' && isWritten(decision)) throw new LostRaceError('this user was changed meanwhile');
    return decision;
  }

  /** @rule D6 Of parallel first logins one creates the user; the others lose the race and find that user. */
  private async provision(
    transaction: Transaction,
    token: VerifiedToken,
    { newUser, projects }: NewUser,
  ): Promise<ResolvedUser> {
    const user = await this.users.create(transaction, newUser);
    if (user === undefined) throw new LostRaceError('this e-mail address was taken by a parallel login');
    await this.link(transaction, token, user, true);
    const synced = await this.syncProjects(transaction, token, user.id, projects);
    const made = provisionedUser(user);
    return { ...made, changes: [...made.changes, ...synced] };
  }

  /** @rule 2.5.1 An e-mail match or a provisioning creates a link. */
  private async link(
    transaction: Transaction,
    token: VerifiedToken,
    { id: userId, role }: HostUser,
    isProvisioned: boolean,
  ): Promise<IdentityChange> {
    const { byAdministrator = false } = token.key.policy;
    const link = { userId, byAdministrator, isProvisioned };
    const isLinked = await this.links.insert(transaction, identityOf(token), link);
    if (!isLinked) throw new LostRaceError('this identity was linked by a parallel login');
    return { kind: 'identity-linked', userId, role, isPrivileged: isPrivileged(role, this.roles) };
  }

  /** Writes the digest last, because a change of memberships clears it and locks the membership before the link. */
  private async syncProjects(
    transaction: Transaction,
    token: VerifiedToken,
    userId: string,
    sync: ProjectSync | undefined,
  ): Promise<IdentityChange[]> {
    if (sync === undefined || this.projects === undefined) return [];
    const { changes, digest } = sync;
    await this.newProjects.count(token.key.policy, changes);
    const ids = await this.projects.change(transaction, { issuer: token.claims.iss, userId }, changes);
    await this.links.setProjectsDigest(transaction, identityOf(token), digest);
    const idsOf = (isMeant: (change: ProjectChange) => boolean) =>
      changes.flatMap((change, index) => (isMeant(change) ? (ids[index] ?? []) : []));
    const changed: ChangedProjects = {
      added: idsOf(({ from }) => from === undefined),
      changed: idsOf(({ from, to }) => from !== undefined && to !== undefined && from !== to),
      removed: idsOf(({ to }) => to === undefined),
    };
    const isNews = Object.values(changed).some((list) => list.length > 0);
    return isNews ? [{ kind: 'projects-updated', userId, ...changed }] : [];
  }
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
