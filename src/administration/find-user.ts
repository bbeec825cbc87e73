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
  transaction: Transaction,
): Promise<User> {
  const isById = isId(idOrEmail);
  const user = await (isById
    ? users.findById(idOrEmail, transaction)
    : users.findByEmail(idOrEmail, transaction));
  if (user !== undefined) return user;
  throw new CommandError(`There is no user with this ${isById ? 'id' : 'e-mail address'}.`);
}
