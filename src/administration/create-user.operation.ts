// Makes a user with a personal project.
import { isUniqueViolation } from '../platform/database/database-error.js';
import { hasMoreCharacters } from '../platform/text/characters.js';
import { GLOBAL_ROLES, OWNER_ROLE } from '../users/role.js';
import type { NewUser, User } from '../users/user.repository.js';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { emailAddress, oneOf, readMembers, storableText } from './input.js';
import type { ChangeOperation, ChangeWork } from './operation.js';

const MAX_NAME_CHARACTERS = 32;

export const OWNER_EXISTS = 'The instance has an owner already, and there is at most one.';

export type CreatedUser = Pick<User, 'id' | 'email' | 'role'>;

export const CREATE_USER: ChangeOperation<NewUser, CreatedUser> = {
  name: 'users create',

  /** The limits of the claims of the same meaning, except that names are not cut off silently. */
  read(input) {
    return readMembers<NewUser>(input, {
      email: emailAddress,
      givenName: personName,
      familyName: personName,
      role: oneOf(GLOBAL_ROLES),
    });
  },

  async change(newUser, work) {
    const { id } = await createdUser(newUser, work);
    return { result: { id, email: newUser.email, role: newUser.role }, things: { userId: id } };
  },
};

/** The database decides, so that two commands at the same moment cannot both make an owner. */
async function createdUser(newUser: NewUser, { parts, transaction }: ChangeWork): Promise<User> {
  try {
    const user = await parts.userService.create(transaction, newUser);
    if (user !== undefined) return user;
  } catch (error) {
    if (newUser.role !== OWNER_ROLE || !isUniqueViolation(error)) throw error;
    throw new CommandError(OWNER_EXISTS);
  }
  throw new CommandError('Another user has this e-mail address.');
}

function personName(value: unknown): Read<string> {
  const read = storableText(value);
  if ('rule' in read || !hasMoreCharacters(read.value, MAX_NAME_CHARACTERS)) return read;
  return { rule: `has more than ${MAX_NAME_CHARACTERS} characters` };
}
