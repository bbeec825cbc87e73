// Finds the user whom a command means, by id or by e-mail address.
import type { Transaction } from '../platform/database/transaction.js';
import type { User } from '../users/user.repository.js';
import { CommandError } from './command-error.js';
import type { InstanceParts } from './instance-parts.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws CommandError when there is none */
export async function findUser(
  idOrEmail: string,
  { users }: InstanceParts,
  transaction: Transaction,
): Promise<User> {
  const isId = UUID.test(idOrEmail);
  const user = await (isId
    ? users.findById(idOrEmail, transaction)
    : users.findByEmail(idOrEmail, transaction));
  if (user !== undefined) return user;
  throw new CommandError(`There is no user with this ${isId ? 'id' : 'e-mail address'}.`);
}
