// Ends all access of a user at once, or lets a disabled one in again.
import { CommandError } from './command-error.js';
import { findUser } from './find-user.js';
import { readMembers, storableText } from './input.js';
import type { ChangeOperation } from './operation.js';
import { refuseOwner } from './owner-protection.js';

/** The user. */
export interface ChosenUser {
  /** An id or an e-mail address. */
  readonly user: string;
}

export interface SwitchedUser {
  readonly id: string;
}

export const DISABLE_USER = switching('users disable', false);
export const ENABLE_USER = switching('users enable', true);

function switching(name: string, enabled: boolean): ChangeOperation<ChosenUser, SwitchedUser> {
  return {
    name,
    read: (input) => readMembers<ChosenUser>(input, { user: storableText }),
    changedUser: ({ user }) => user,
    async change({ user }, work) {
      const { parts, transaction, operator } = work;
      const { id } = await findUser(user, parts, transaction);
      await refuseOwner(id, work);
      if (!enabled && id === operator?.id) throw new CommandError('You cannot disable your own account.');
      await parts.users.update(id, { enabled }, transaction);
      return { result: { id }, things: { userId: id } };
    },
  };
}
