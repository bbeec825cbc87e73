// Creates, lists, shows and finds users.
import { Injectable } from '@nestjs/common';
import { userChanged } from '../../audit/user-changed.js';
import { isUniqueViolation } from '../../platform/database/database-error.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { emailAddress, oneOf, storableString, stringUpTo } from '../../platform/input/schemas.js';
import { isId } from '../../platform/text/id.js';
import { GLOBAL_ROLES, OWNER_ROLE } from '../../users/role.js';
import type { NewUser, User } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import type { UserProfile } from '../accounts/user-profile.repository.js';
import { UserProfileRepository } from '../accounts/user-profile.repository.js';
import { CommandError } from '../command-error.js';
import type { ChangeWork } from '../operation.js';
import { Change, inputOf, Read, readNothing, Stream } from '../operation.js';

const MAX_NAME_CHARACTERS = 32;

/** A user's id or e-mail address. */
export const CHOSEN_USER = { user: storableString() };
export const readUser = inputOf(CHOSEN_USER);
export type ChosenUser = ReturnType<typeof readUser>;

export const OWNER_EXISTS = 'The instance has an owner already, and there is at most one.';

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
