// Creates, lists, shows and finds users.
import { isUniqueViolation } from '../platform/database/database-error.js';
import type { Transaction } from '../platform/database/transaction.js';
import { isId } from '../platform/text/id.js';
import { GLOBAL_ROLES, OWNER_ROLE } from '../users/role.js';
import type { NewUser, User } from '../users/user.repository.js';
import type { UserProfile } from './accounts/user-profile.repository.js';
import { userChanged } from '../audit/user-changed.js';
import { CommandError } from './command-error.js';
import { emailAddress, members, oneOf, readNothing, storableText, textUpTo } from './input.js';
import type { InstanceParts } from './instance-parts.js';
import type { ChangeWork } from './operation.js';
import { changeOperation, listOperation } from './operation.js';
import { markedAddress, printable, tableOf } from './table.js';

const MAX_NAME_CHARACTERS = 32;

/** Which user: an id or an e-mail address. */
export const CHOSEN_USER = { user: storableText };
export const readUser = members(CHOSEN_USER);
export const USER = { user: ['<id-or-email>', 'the user'] } as const;

export const OWNER_EXISTS = 'The instance has an owner already, and there is at most one.';

/** The limits of the claims of the same meaning, except that names are not cut off silently. */
const readNewUser = members({
  email: emailAddress,
  givenName: textUpTo(MAX_NAME_CHARACTERS),
  familyName: textUpTo(MAX_NAME_CHARACTERS),
  role: oneOf(GLOBAL_ROLES),
});

export const CREATE_USER = changeOperation('users create', readNewUser, {
  async change(newUser, work) {
    const to = await createdUser(newUser, work);
    const { id } = to;
    const events = [userChanged(work.context, { id, to })];
    return { result: { id, email: newUser.email, role: newUser.role }, things: { userId: id }, events };
  },

  command: {
    about: 'create a user with a personal project; prints the user as one JSON object',
    example: '--email owner@example.com --role global:owner',
    text: (user) => `${JSON.stringify(user)}\n`,
  },
});

/** The database decides, so that two commands at the same moment cannot both make an owner. */
async function createdUser(newUser: NewUser, { parts, transaction }: ChangeWork): Promise<User> {
  try {
    const user = await parts.users.create(transaction, newUser);
    if (user !== undefined) return user;
  } catch (error) {
    if (newUser.role !== OWNER_ROLE || !isUniqueViolation(error)) throw error;
    throw new CommandError(OWNER_EXISTS);
  }
  throw new CommandError('Another user has this e-mail address.');
}

/** The embedded database reads a page on the main thread, which requests wait for meanwhile. */
const PAGE_SIZE = 100;

export interface ListedUser extends Pick<
  User,
  'id' | 'email' | 'givenName' | 'familyName' | 'role' | 'enabled'
> {
  /** ISO 8601. */
  readonly createdAt: string;
}

/** In the order of their e-mail addresses: ids are random. */
export const LIST_USERS = listOperation('users list', readNothing, {
  async *list(_input, { users }) {
    let page = await users.search('', undefined, PAGE_SIZE);
    while (page.length > 0) {
      yield page.map(listedUser);
      page = await users.search('', page.at(-1)?.normalizedEmail, PAGE_SIZE);
    }
  },

  command: {
    about: 'list all users, by e-mail address',
    example: '--json',
    nothing: 'There is no user.',
    text: tableOf<ListedUser>(['ID', 'E-MAIL', 'NAME', 'ROLE', 'STATE'], (user) => [
      ...[user.id, markedAddress(user.email), nameOf(user), user.role, user.enabled ? 'enabled' : 'disabled'],
    ]),
  },
});

export function listedUser({ id, email, givenName, familyName, role, enabled, createdAt }: User): ListedUser {
  return { id, email, givenName, familyName, role, enabled, createdAt: createdAt.toISOString() };
}

function nameOf({ givenName, familyName }: ListedUser): string {
  return `${givenName} ${familyName}`.trim();
}

export type ShownUser = ListedUser & UserProfile;

/** A list of one. */
export const SHOW_USER = listOperation('users show', readUser, {
  async *list({ user }, parts) {
    const found = await findUser(user, parts);
    const profile = await parts.userProfiles.find(found.id, parts.clock.now());
    if (profile === undefined) throw new CommandError('The user was deleted meanwhile.');
    yield [{ ...listedUser(found), ...profile }];
  },

  command: {
    about: 'show one user: linked identities, sessions, last sign-ins',
    takes: USER,
    example: 'user@example.com',
    text: ([user]) => (user === undefined ? '' : `${userLines(user).map(printable).join('\n')}\n`),
    json: ([user]) => user,
  },
});

function userLines(user: ShownUser): string[] {
  const { id, email, role, enabled, createdAt, provisioned, hasPassword, sessions } = user;
  const { links, signIns, projects } = user;
  const name = nameOf(user);
  return [
    `User:      ${id}`,
    `E-mail:    ${markedAddress(email)}`,
    ...(name === '' ? [] : [`Name:      ${name}`]),
    `Role:      ${role}`,
    `State:     ${enabled ? 'enabled' : 'disabled'}`,
    `Created:   ${createdAt}${provisioned ? ', by a token' : ''}`,
    `Password:  ${hasPassword ? "set, for the operator's page" : 'none'}`,
    `Sessions:  ${sessions}`,
    ...links.map(({ issuer, subject, linkedAt }) => `Identity:  ${subject} of ${issuer}, since ${linkedAt}`),
    ...projects.map(({ projectId, name: title, role: rights, issuer, externalKeys }) =>
      [
        `Project:   ${projectId} ${title}, ${rights}, given by ${issuer ?? 'people'}`,
        ...externalKeys.map((external) => `${external.key} of ${external.issuer}`),
      ].join(', '),
    ),
    ...signIns.map(({ occurredAt, event, issuer, requestId }) =>
      ['Signed in:', occurredAt, event, `issuer ${issuer ?? '-'}`, `request ${requestId}`].join(' '),
    ),
  ];
}

/** @throws CommandError when there is none */
export async function findUser(
  idOrEmail: string,
  { users }: InstanceParts,
  transaction?: Transaction,
): Promise<User> {
  const user = await (isId(idOrEmail)
    ? users.findById(idOrEmail, transaction)
    : users.findByEmail(idOrEmail, transaction));
  if (user !== undefined) return user;
  throw new CommandError('There is no user with this id or e-mail address.');
}

/**
 * The id that is meant. Ids stay as they are, because events outlive their users.
 * @throws CommandError for an e-mail address that no user has
 */
export async function userIdOf(
  idOrEmail: string | undefined,
  parts: InstanceParts,
): Promise<string | undefined> {
  if (idOrEmail === undefined) return undefined;
  return isId(idOrEmail) ? idOrEmail.toLowerCase() : (await findUser(idOrEmail, parts)).id;
}
