// Finds, links or provisions the local user of a verified token, and keeps names and role in step with its claims.
import { Inject, Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { LostRaceError } from '../database/transaction.js';
import { firstCharacters } from '../foundation/characters.js';
import type { Log } from '../foundation/log.js';
import { LOGGER } from '../foundation/log.js';
import type { ExpectedUser, ExternalIdentity, HostUser, HostUserUpdate } from '../host.js';
import { UserDirectory } from '../host.js';
import { Rejection, withRejectionContext } from '../rejection.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS, isPrivileged } from '../token-exchange.options.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { issuerAndKid } from '../verification/external-token.verifier.js';
import {
  judgeEmail,
  judgeLink,
  judgeProvisioning,
  judgeStoredRole,
  permittedRoles,
} from './admission-policy.js';
import { IdentityLinkRepository } from './identity-link.repository.js';
import type { RoleSync } from './role-policy.js';
import { canBeKept, roleOfExistingUser, roleOfNewUser } from './role-policy.js';

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
  readonly changes: readonly IdentityChange[];
}

const MAX_NAME_CHARACTERS = 32;

@Injectable()
export class IdentityService {
  constructor(
    private readonly links: IdentityLinkRepository,
    private readonly users: UserDirectory,
    @Inject(LOGGER) private readonly logger: Log,
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
   * Resolves the user of a verified token whose jti is consumed, by the same rules for subject and actor.
   * @throws Rejection when identity, e-mail, role or the user's state forbid it
   * @throws LostRaceError when a parallel first login won; the transaction is to be run again
   */
  resolve(transaction: Transaction, token: VerifiedToken): Promise<ResolvedUser> {
    return withRejectionContext(issuerAndKid(token), () => this.findOrMake(transaction, token));
  }

  private async findOrMake(transaction: Transaction, token: VerifiedToken): Promise<ResolvedUser> {
    const known = await this.knownUser(transaction, token);
    if (known !== undefined) return this.existing(transaction, token, known, []);
    const email = judgeEmail(token.claims, token.key.policy);
    const linked = await this.linkByEmail(transaction, token, email);
    if (linked === undefined) return this.provision(transaction, token, email);
    const { id: userId, role } = linked;
    const change = { userId, role, isPrivileged: isPrivileged(role, this.options.roles) };
    return this.existing(transaction, token, linked, [{ kind: 'identity-linked', ...change }]);
  }

  /** @rule 4.4.1 A linked identity is its user; where the host has deleted that user, it is unknown again. */
  private async knownUser(transaction: Transaction, token: VerifiedToken): Promise<HostUser | undefined> {
    const identity = identityOf(token);
    const userId = await this.links.findUserId(transaction, identity);
    if (userId === undefined) return undefined;
    const user = await this.users.findById(transaction, userId);
    if (user === undefined) await this.links.forget(transaction, identity, userId);
    return user;
  }

  /**
   * The user is locked before the link is judged: who becomes an administrator meanwhile is judged as one. The lock is the
   * one that the login needs in the end: of two that share one, neither could ever take the stronger.
   * @rule 4.4.2 An unknown identity is linked to the user who has its e-mail address.
   */
  private async linkByEmail(
    transaction: Transaction,
    token: VerifiedToken,
    email: string,
  ): Promise<HostUser | undefined> {
    const found = await this.users.findByEmail(transaction, email);
    if (found === undefined) return undefined;
    const lock = mayChange(found, token) ? 'update' : 'share';
    const user = await this.users.lock(transaction, found.id, lock);
    if (user === undefined) throw new LostRaceError('this user was deleted meanwhile');
    if (lock === 'share' && mayChange(user, token))
      throw new LostRaceError('this user was changed meanwhile');
    judgeLink(user, token.key.policy, this.options.roles);
    await this.link(transaction, token, user.id);
    return user;
  }

  /** @rule 2.5.1 An e-mail match or a provisioning leaves a link. */
  private async link(transaction: Transaction, token: VerifiedToken, userId: string): Promise<void> {
    const isLinked = await this.links.insert(transaction, identityOf(token), userId);
    if (!isLinked) throw new LostRaceError('this identity was linked by a parallel login');
  }

  /**
   * @rule 4.4.3 Nobody else having the e-mail address, a new user is made.
   * @rule D6 Of parallel first logins one makes the user; the others lose the race and find that user.
   */
  private async provision(
    transaction: Transaction,
    token: VerifiedToken,
    email: string,
  ): Promise<ResolvedUser> {
    const { givenName = '', familyName = '', role: claim } = token.claims;
    const { policy } = token.key;
    judgeProvisioning(policy);
    const role = roleOfNewUser(claim, policy, this.options.roles);
    const names = { givenName: truncated(givenName), familyName: truncated(familyName) };
    const user = await this.users.create(transaction, { email, role, ...names });
    if (user === undefined) throw new LostRaceError('this e-mail address was taken by a parallel login');
    await this.link(transaction, token, user.id);
    return { userId: user.id, changes: [{ kind: 'user-provisioned', userId: user.id, role }] };
  }

  private async existing(
    transaction: Transaction,
    token: VerifiedToken,
    user: HostUser,
    changes: readonly IdentityChange[],
  ): Promise<ResolvedUser> {
    this.judge(token, user);
    this.warnOfIgnoredClaim(token, user);
    const roleChange = await this.sync(transaction, token, user);
    return { userId: user.id, changes: [...changes, ...roleChange] };
  }

  /** Parallel logins of one user take turns where something is to be changed, and see what the one before has written. */
  private async sync(
    transaction: Transaction,
    token: VerifiedToken,
    user: HostUser,
  ): Promise<IdentityChange[]> {
    if (isEmpty(this.updateFor(token, user))) return [];
    const current = await this.users.lock(transaction, user.id, 'update');
    if (current === undefined) throw new LostRaceError('this user was deleted meanwhile');
    this.judge(token, current);
    const update = this.updateFor(token, current);
    if (!isEmpty(update)) await this.users.update(transaction, user.id, update);
    return changesOf(current, update);
  }

  /** @throws Rejection where a known user may not come in */
  private judge(token: VerifiedToken, user: HostUser): void {
    refuseDisabled(user);
    judgeStoredRole(user, token.key.policy, this.options.roles);
  }

  /**
   * What the claims change of a user.
   * @rule 4.4.4 A valid role claim wins over the stored role at every login.
   */
  private updateFor(token: VerifiedToken, user: HostUser): HostUserUpdate {
    const { claims } = token;
    const sync = this.roleSync(token, user);
    return {
      ...(sync.kind === 'change' ? { role: sync.role } : {}),
      ...changedName('givenName', claims.givenName, user),
      ...changedName('familyName', claims.familyName, user),
    };
  }

  private roleSync({ claims, key }: VerifiedToken, { role }: HostUser): RoleSync {
    return roleOfExistingUser(role, claims.role, key.policy, this.options.roles);
  }

  private warnOfIgnoredClaim(token: VerifiedToken, user: HostUser): void {
    if (this.roleSync(token, user).kind !== 'ignore-claim') return;
    const { policy } = token.key;
    this.logger.warn(
      { userId: user.id, issuer: policy.issuer, entry: policy.label },
      'a role claim was ignored: it names no role that can be assigned',
    );
  }
}

function identityOf({ claims: { iss, sub } }: VerifiedToken): ExternalIdentity {
  return { issuer: iss, subject: sub };
}

/** Whether a token says otherwise of a user than what is stored, be it that it is not heard in the end. */
function mayChange(
  user: HostUser,
  { claims: { role = user.role, givenName, familyName } }: VerifiedToken,
): boolean {
  const names = {
    ...changedName('givenName', givenName, user),
    ...changedName('familyName', familyName, user),
  };
  return role !== user.role || !isEmpty(names);
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

/** For subject and actor of both flows alike (D7). */
function refuseDisabled({ enabled }: HostUser): void {
  if (!enabled) throw new Rejection('user_disabled');
}

function isEmpty(update: HostUserUpdate): boolean {
  return Object.keys(update).length === 0;
}

/** @rule 2.5.3 Names are cut to 32 characters and written only where they differ. */
function changedName(
  name: 'givenName' | 'familyName',
  claim: string | undefined,
  user: HostUser,
): HostUserUpdate {
  if (claim === undefined) return {};
  const value = truncated(claim);
  return value === user[name] ? {} : { [name]: value };
}

function truncated(name: string): string {
  return firstCharacters(name, MAX_NAME_CHARACTERS);
}
