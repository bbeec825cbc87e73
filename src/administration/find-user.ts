// Finds the user whom a command means, by id or by e-mail address.
import type { Transaction } from '../platform/database/transaction.js';
import { isId } from '../platform/text/id.js';
import type { User } from '../users/user.repository.js';
import { CommandError } from './command-error.js';
import type { InstanceParts } from './instance-parts.js';

/** @throws CommandError when there is none */
export async function findUser(
  idOrEmail: string,
  { users }: InstanceParts,
  transaction?: Transaction,
): Promise<User> {
  const isById = isId(idOrEmail);
  const user = await (isById
    ? users.findById(idOrEmail, transaction)
    : users.findByEmail(idOrEmail, transaction));
  if (user !== undefined) return user;
  throw new CommandError(`There is no user with this ${isById ? 'id' : 'e-mail address'}.`);
}

/**
 * The id that is meant. Ids stay as they are, because events outlive their users.
 * @throws CommandError for an e-mail address that no user has
 */
export async function userIdOf(
  idOrEmail: string | undefined,
  { users }: InstanceParts,
): Promise<string | undefined> {
  if (idOrEmail === undefined) return undefined;
  if (isId(idOrEmail)) return idOrEmail.toLowerCase();
  const found = await users.findByEmail(idOrEmail);
  if (found !== undefined) return found.id;
  throw new CommandError('There is no user with this e-mail address.');
}
