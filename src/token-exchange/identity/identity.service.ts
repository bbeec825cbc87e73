// Finds, links or provisions the local user of a verified token, and keeps names and role in step with its claims: as was decided.
import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { LostRaceError } from '../../platform/database/transaction.js';
import type { ExpectedUser, Newcomer } from '../host/settlements.js';
import type { HostUser, HostUserUpdate, UserLock } from '../host/users.js';
import { UserDirectory } from '../host/users.js';
import type { RejectionContext } from '../rejection.js';
import { withRejectionContext } from '../rejection.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS, isPrivileged } from '../token-exchange.options.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { issuerAndKid } from '../verification/external-token.verifier.js';
import { permittedRoles } from './admission-policy.js';
import { IdentityLinkRepository } from './identity-link.repository.js';
import type { FoundUser, UserToBeMade } from './identity.decider.js';
import { IdentityDecider, identityOf, truncated } from './identity.decider.js';
import { assignableRoles, canBeKept } from './role-policy.js';

/** What resolving a token changed; the flows make audit events of it. */
export type IdentityChange =
  | { kind: 'user-provisioned'; userId: string; role: string }
  | { kind: 'identity-linked'; userId: string; role: string; isPrivileged: boolean }
  | { kind: 'role-updated'; userId: string; from: string; to: string }
  | { kind: 'profile-updated'; userId: string; fields: readonly ProfileField[] };

/** What a login may change of a user besides the role. */
type ProfileField = 'givenName' | 'familyName';

/** The local user of a token, and what finding it changed. */
export interface ResolvedUser {
  readonly userId: string;
  readonly accessGeneration?: string;
  readonly changes: readonly IdentityChange[];
  /** Where the role claim was ignored (4.4.role.5): what could be assigned. */
  readonly ignoredRole?: Pick<RejectionContext, 'expected'>;
}

@Injectable()
export class IdentityService {
  constructor(
    private readonly decider: IdentityDecider,
    private readonly links: IdentityLinkRepository,
    private readonly users: UserDirectory,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {}

  /**
   * How the user of a verified token must be found, so that nothing is to be done but to let them in. Undefined where that
   * cannot be: the claims ask for a role that is ignored or refused, whoever it is. What else the policy says of users
   * binds those that are not linked yet.
   */
  expectation({ claims, key }: VerifiedToken): ExpectedUser | undefined {
    const { iss, sub, givenName, familyName, role } = claims;
    if (!canBeKept(role, key.policy, this.options.roles)) return undefined;
    return {
      issuer: iss,
      subject: sub,
      givenName: givenName === undefined ? undefined : truncated(givenName),
      familyName: familyName === undefined ? undefined : truncated(familyName),
      role,
      ...permittedRoles(key.policy, this.options.roles),
    };
  }

  /**
   * The user of a verified token, to be made where nobody is known by its identity or its address: by the same rules as `resolve`.
   * Undefined where they let nobody be made.
   */
  newcomer(token: VerifiedToken): Pick<Newcomer, 'identity' | 'user'> | undefined {
    const user = this.decider.newcomer(token);
    return user === undefined ? undefined : { identity: identityOf(token), user };
  }

  /**
   * Resolves the user of a verified token whose jti is consumed, by the same rules for subject and actor.
   * @throws Rejection when identity, e-mail, role or the user's state forbid it
   * @throws LostRaceError when a parallel first login won; the transaction is to be run again
   */
  resolve(transaction: Transaction, token: VerifiedToken): Promise<ResolvedUser> {
    return withRejectionContext(issuerAndKid(token), () => this.decideAndApply(transaction, token));
  }

  private async decideAndApply(transaction: Transaction, token: VerifiedToken): Promise<ResolvedUser> {
    const decision = await this.decider.decide(transaction, token);
    if (decision.goneUserId !== undefined)
      await this.links.forget(transaction, identityOf(token), decision.goneUserId);
    switch (decision.by) {
      case 'link':
        return this.letIn(transaction, token, decision);
      case 'email':
        return this.linkAndLetIn(transaction, token, decision);
      case 'provisioning':
        return this.provision(transaction, token, decision);
    }
  }

  /** Parallel logins of one user take turns where something is to be changed, and see what the one before has written. */
  private async letIn(
    transaction: Transaction,
    token: VerifiedToken,
    found: FoundUser,
  ): Promise<ResolvedUser> {
    const current = isEmpty(found.update) ? found : await this.locked(transaction, token, found, 'update');
    const changes = await this.update(transaction, current);
    const { id: userId, accessGeneration } = current.user;
    return { userId, accessGeneration, changes, ignoredRole: this.ignoredRole(current) };
  }

  /**
   * The user is locked before the link is made: who becomes an administrator meanwhile is judged as one. The lock is the one
   * that the login needs in the end: of two that share one, neither could ever take the stronger.
   */
  private async linkAndLetIn(
    transaction: Transaction,
    token: VerifiedToken,
    found: FoundUser,
  ): Promise<ResolvedUser> {
    const lock = isEmpty(found.update) ? 'share' : 'update';
    const current = await this.locked(transaction, token, found, lock);
    if (lock === 'share' && !isEmpty(current.update))
      throw new LostRaceError('this user was changed meanwhile');
    const { id: userId, role, accessGeneration } = current.user;
    await this.link(transaction, token, userId);
    const linked = { userId, role, isPrivileged: isPrivileged(role, this.options.roles) };
    const changes = [
      { kind: 'identity-linked' as const, ...linked },
      ...(await this.update(transaction, current)),
    ];
    return { userId, accessGeneration, changes, ignoredRole: this.ignoredRole(current) };
  }

  /** Decides about a user again whom nobody else changes from here on. */
  private async locked(
    transaction: Transaction,
    token: VerifiedToken,
    { by, user }: FoundUser,
    lock: UserLock,
  ): Promise<FoundUser> {
    const current = await this.users.lock(transaction, user.id, lock);
    if (current === undefined) throw new LostRaceError('this user was deleted meanwhile');
    return this.decider.judge(by, token, current);
  }

  /** @rule 2.5.1 An e-mail match or a provisioning leaves a link. */
  private async link(transaction: Transaction, token: VerifiedToken, userId: string): Promise<void> {
    const isLinked = await this.links.insert(transaction, identityOf(token), userId);
    if (!isLinked) throw new LostRaceError('this identity was linked by a parallel login');
  }

  /** @rule D6 Of parallel first logins one makes the user; the others lose the race and find that user. */
  private async provision(
    transaction: Transaction,
    token: VerifiedToken,
    { newUser }: UserToBeMade,
  ): Promise<ResolvedUser> {
    const user = await this.users.create(transaction, newUser);
    if (user === undefined) throw new LostRaceError('this e-mail address was taken by a parallel login');
    await this.link(transaction, token, user.id);
    const { id: userId, accessGeneration } = user;
    return {
      userId,
      accessGeneration,
      changes: [{ kind: 'user-provisioned', userId, role: newUser.role }],
    };
  }

  private async update(transaction: Transaction, { user, update }: FoundUser): Promise<IdentityChange[]> {
    if (!isEmpty(update)) await this.users.update(transaction, user.id, update);
    return changesOf(user, update);
  }

  private ignoredRole({ ignoresRoleClaim }: FoundUser): ResolvedUser['ignoredRole'] {
    return ignoresRoleClaim ? { expected: assignableRoles(this.options.roles) } : undefined;
  }
}

function changesOf(
  { id: userId, role: from }: HostUser,
  { role, ...names }: HostUserUpdate,
): IdentityChange[] {
  const fields = (['givenName', 'familyName'] as const).filter((name) => names[name] !== undefined);
  return [
    ...(role === undefined ? [] : [{ kind: 'role-updated', userId, from, to: role } as const]),
    ...(fields.length === 0 ? [] : [{ kind: 'profile-updated', userId, fields } as const]),
  ];
}

function isEmpty(update: HostUserUpdate): boolean {
  return Object.keys(update).length === 0;
}
