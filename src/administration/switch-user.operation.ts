// Ends all access of a user at once, or lets a disabled one in again.
import { findUser } from './find-user.js';
import { readMembers, storableText } from './input.js';
import type { ChangeOperation } from './operation.js';

/** Whom it is about. */
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
    async change({ user }, { parts, transaction }) {
      const { id } = await findUser(user, parts, transaction);
      await parts.users.update(id, { enabled }, transaction);
      return { result: { id }, things: { userId: id } };
    },
  };
}
