// Creates, lists, shows and finds users.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { userChanged } from '../../audit/user-changed.js';
import { isUniqueViolation } from '../../platform/database/database-error.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { Checked } from '../../platform/input/schemas.js';
import { emailAddress, oneOf, readBy, storableString, stringUpTo } from '../../platform/input/schemas.js';
import { isId } from '../../platform/text/id.js';
import type { RecordedWork } from '../../token-exchange/instance.js';
import {
  auditEvent,
  IdentityLinkRepository,
  SessionRepository,
  signOutEverywhere,
} from '../../token-exchange/instance.js';
import type { GlobalRole } from '../../users/role.js';
import { GLOBAL_ROLES, OPERATOR_ROLES, OWNER_ROLE } from '../../users/role.js';
import type { NewUser, User } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import { OperatorAccountRepository } from '../accounts/operator-account.repository.js';
import { OperatorSessionRepository } from '../accounts/operator-session.repository.js';
import { CODE_LIFETIME_SECONDS, isPasswordHash } from '../accounts/passwords.js';
import type { UserProfile } from '../accounts/user-profile.repository.js';
import { UserProfileRepository } from '../accounts/user-profile.repository.js';
import type { Changed, ChangeWork } from '../operation.js';
import { Change, CommandError, inputOf, Read, readNothing, Stream } from '../operation.js';

const MAX_NAME_CHARACTERS = 32;

/** A user's id or e-mail address. */
const CHOSEN_USER = { user: storableString() };
const readUser = inputOf(CHOSEN_USER);
type ChosenUser = ReturnType<typeof readUser>;

const OWNER_EXISTS = 'The instance has an owner already, and there is at most one.';

/** The limits of the corresponding claims, except that long names are refused instead of truncated. */
const readNewUser = inputOf({
  email: emailAddress(),
  givenName: stringUpTo(MAX_NAME_CHARACTERS),
  familyName: stringUpTo(MAX_NAME_CHARACTERS),
  role: oneOf(GLOBAL_ROLES),
});

/** The embedded database reads a page on the main thread, which blocks requests. */
const PAGE_SIZE = 100;

export interface ListedUser extends Pick<
  User,
  'id' | 'email' | 'givenName' | 'familyName' | 'role' | 'enabled'
> {
  /** ISO 8601. */
  readonly createdAt: string;
}

export type ShownUser = ListedUser & UserProfile;

@Injectable()
export class UserOperations {
  constructor(
    private readonly users: UserRepository,
    private readonly profiles: UserProfileRepository,
  ) {}

  @Change('users create', readNewUser)
  async create(newUser: NewUser, { transaction, context }: ChangeWork) {
    const to = await this.created(newUser, transaction);
    const { id } = to;
    const events = [userChanged(context, { id, to })];
    return { result: { id, email: newUser.email, role: newUser.role }, targets: { userId: id }, events };
  }

  /** The database decides, so that two concurrent commands cannot both create an owner. */
  private async created(newUser: NewUser, transaction: Transaction): Promise<User> {
    try {
      const user = await this.users.create(transaction, newUser);
      if (user !== undefined) return user;
    } catch (error) {
      if (newUser.role !== OWNER_ROLE || !isUniqueViolation(error)) throw error;
      throw new CommandError(OWNER_EXISTS);
    }
    throw new CommandError('Another user has this e-mail address.');
  }

  /** Sorted by e-mail address, because ids are random. */
  @Stream('users list', readNothing)
  async *list(): AsyncGenerator<readonly ListedUser[]> {
    let page = await this.users.search('', undefined, PAGE_SIZE);
    while (page.length > 0) {
      yield page.map(listedUser);
      page = await this.users.search('', page.at(-1)?.normalizedEmail, PAGE_SIZE);
    }
  }

  @Read('users show', readUser)
  async show({ user }: ChosenUser): Promise<ShownUser> {
    const found = await findUser(user, this.users);
    const profile = await this.profiles.find(found.id);
    if (profile === undefined) throw new CommandError('The user was deleted meanwhile.');
    return { ...listedUser(found), ...profile };
  }
}

export function listedUser({ id, email, givenName, familyName, role, enabled, createdAt }: User): ListedUser {
  return { id, email, givenName, familyName, role, enabled, createdAt: createdAt.toISOString() };
}

/** @throws CommandError if the user does not exist */
export async function findUser(
  idOrEmail: string,
  users: UserRepository,
  transaction?: Transaction,
): Promise<User> {
  const user = await (isId(idOrEmail)
    ? users.findById(idOrEmail, transaction)
    : users.findByEmail(idOrEmail, transaction));
  if (user !== undefined) return user;
  throw new CommandError('There is no user with this id or e-mail address.');
}

/**
 * A user's id. Ids are returned unchecked, because events outlive their users.
 * @throws CommandError for an e-mail address that no user has
 */
export async function userIdOf(
  idOrEmail: string | undefined,
  users: UserRepository,
): Promise<string | undefined> {
  if (idOrEmail === undefined) return undefined;
  return isId(idOrEmail) ? idOrEmail.toLowerCase() : (await findUser(idOrEmail, users)).id;
}

const readRole = inputOf({ ...CHOSEN_USER, role: oneOf(GLOBAL_ROLES) });

const readLinks = inputOf({
  ...CHOSEN_USER,
  issuer: storableString(),
  /** The `sub` of one of the user's identities; undefined: all. */
  subject: storableString().optional(),
});

const readPassword = inputOf({
  ...CHOSEN_USER,
  passwordHash: readBy(z.unknown(), passwordHash).optional(),
  codeHash: readBy(z.unknown(), sha256).optional(),
});

const byUser = { changedUser: ({ user }: ChosenUser) => user };

@Injectable()
export class UserChangeOperations {
  constructor(
    private readonly users: UserRepository,
    private readonly sessions: SessionRepository,
    private readonly links: IdentityLinkRepository,
    private readonly accounts: OperatorAccountRepository,
    private readonly operatorSessions: OperatorSessionRepository,
  ) {}

  @Change('users set-role', readRole)
  async setRole({ user, role }: ReturnType<typeof readRole>, work: ChangeWork) {
    const { transaction, context } = work;
    const from = await this.locked(user, work);
    const { id } = from;
    try {
      await this.users.update(id, { role }, transaction);
    } catch (error) {
      if (role !== OWNER_ROLE || !isUniqueViolation(error)) throw error;
      throw new CommandError(OWNER_EXISTS);
    }
    const events = [userChanged(context, { id, from, to: { ...from, role } })];
    const result: { id: string; from: GlobalRole; to: GlobalRole } = { id, from: from.role, to: role };
    return { result, targets: { userId: id }, events };
  }

  /**
   * A wrong link gave sessions and tokens to the wrong person. They cannot be told from the others, so all of
   * them end.
   */
  @Change('users unlink', readLinks)
  async unlink({ user, ...links }: ReturnType<typeof readLinks>, work: ChangeWork) {
    const { transaction } = work;
    const { id } = await findUser(user, this.users, transaction);
    // The link of the token that created the user stays, because it prevents a password for this user (D106).
    const keptTime = await this.users.creationTime(id, transaction);
    const { unlinked, left } = await this.links.unlink(transaction, id, links, keptTime);
    if (unlinked === 0)
      throw new CommandError(
        left === 0
          ? 'The user has no such identity; see svc-admin users show.'
          : 'This identity created the user and cannot be unlinked: see svc-admin users delete.',
      );
    const { result: sessions, events } = await this.endAccess(id, work);
    return { result: { id, unlinked, sessions }, targets: { userId: id, issuer: links.issuer }, events };
  }

  /**
   * The schema's cascades delete everything that belongs to the user alone. The trail keeps the user's
   * events, which contain the id.
   */
  @Change('users delete', readUser)
  async delete({ user }: ChosenUser, work: ChangeWork) {
    const { transaction, context } = work;
    const from = await this.locked(user, work);
    const { id, role } = from;
    if (role === OWNER_ROLE)
      throw new CommandError(
        'The owner cannot be deleted: first give that user another role (users set-role).',
      );
    const { result: sessions, events } = await this.endAccess(id, work);
    await this.users.delete(id, transaction);
    const deleted = userChanged(context, { id, from });
    return { result: { id, sessions }, targets: { userId: id }, events: [...events, deleted] };
  }

  @Change('users disable', readUser, byUser)
  disable(user: ChosenUser, work: ChangeWork) {
    return this.switch(user, false, work);
  }

  @Change('users enable', readUser, byUser)
  enable(user: ChosenUser, work: ChangeWork) {
    return this.switch(user, true, work);
  }

  private async switch(
    { user }: ChosenUser,
    enabled: boolean,
    work: ChangeWork,
  ): Promise<Changed<{ id: string }>> {
    const { transaction, context, operator } = work;
    const from = await this.locked(user, work);
    const { id } = from;
    if (!enabled && id === operator?.id) throw new CommandError('You cannot disable your own account.');
    await this.users.update(id, { enabled }, transaction);
    const events = [userChanged(context, { id, from, to: { ...from, enabled } })];
    return { result: { id }, targets: { userId: id }, events };
  }

  /** Returns how many embedded and operator sessions were still live. */
  @Change('users sign-out', readUser, byUser)
  async signOut({ user }: ChosenUser, work: ChangeWork) {
    const { transaction } = work;
    const { id } = await findUser(user, this.users, transaction);
    const { result: sessions, events } = await this.endAccess(id, work);
    const operatorSessions = await this.operatorSessions.deleteOfUser(transaction, id);
    return { result: { id, sessions, operatorSessions }, targets: { userId: id }, events };
  }

  /** Sets the hash of a password that satisfies the rules, or of a sign-in code; exactly one of them. */
  @Change('users set-password', readPassword)
  async setPassword(
    { user, passwordHash: hash, codeHash }: ReturnType<typeof readPassword>,
    work: ChangeWork,
  ) {
    const { transaction, context } = work;
    const { id } = await this.passwordBearer(user, work);
    const targets = { userId: id };
    if (codeHash !== undefined) {
      const expiresAt = new Date(context.occurredAt.getTime() + CODE_LIFETIME_SECONDS * 1000);
      await this.accounts.setCode(transaction, id, Buffer.from(codeHash, 'hex'), expiresAt);
      return { result: { id, endedSessions: 0 }, targets };
    }
    if (hash === undefined) throw new CommandError('There is neither a password nor a code.');
    await this.accounts.setPassword(transaction, id, hash, context.occurredAt);
    const endedSessions = await this.operatorSessions.deleteOfUser(transaction, id);
    const event = auditEvent(
      'svc.audit.operator.password-changed',
      { ...context, subjectUserId: id },
      { by: 'command', endedSessions },
    );
    return { result: { id, endedSessions }, targets, events: [event] };
  }

  private endAccess(userId: string, { transaction, context }: ChangeWork): Promise<RecordedWork<number>> {
    const repositories = { sessions: this.sessions, users: this.users };
    return signOutEverywhere(repositories, transaction, userId, context);
  }

  /**
   * Whether a partner's token created the user: then the first link was written in the user's own
   * transaction, and the database gives both the same time. A user from a command or the API has no such
   * link.
   */
  private async isProvisioned(userId: string, { transaction }: ChangeWork): Promise<boolean> {
    return this.links.isLinkedAt(transaction, userId, await this.users.creationTime(userId, transaction));
  }

  /**
   * Checks that a user may have a password: an owner or administrator whom no partner's token created (D106,
   * 2.5.2).
   * @throws CommandError
   */
  private async passwordBearer(idOrEmail: string, work: ChangeWork): Promise<User> {
    const user = await this.locked(idOrEmail, work);
    if (await this.isProvisioned(user.id, work))
      throw new CommandError(
        "A partner's token created this user: such users sign in with tokens only and get no password.",
      );
    if (!OPERATOR_ROLES.includes(user.role))
      throw new CommandError(
        `Only users with one of the roles ${OPERATOR_ROLES.join(', ')} have a password.`,
      );
    if (!user.enabled) throw new CommandError('The user is disabled. Enable the user first.');
    return user;
  }

  /** Locks the user's row until the transaction ends. @throws CommandError if the user does not exist */
  private async locked(idOrEmail: string, { transaction }: ChangeWork): Promise<User> {
    const found = await findUser(idOrEmail, this.users, transaction);
    return (await this.users.lock(found.id, transaction)) ?? found;
  }
}

function passwordHash(value: unknown): Checked<string> {
  return typeof value === 'string' && isPasswordHash(value)
    ? { value }
    : { rule: 'must be a hash of argon2id' };
}

function sha256(value: unknown): Checked<string> {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
    ? { value }
    : { rule: 'must be SHA-256 in hexadecimal' };
}
