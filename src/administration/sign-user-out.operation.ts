// Ends all sessions and access tokens of a user; new logins pass.
import { signOutEverywhere } from '../token-exchange/instance.js';
import { findUser } from './find-user.js';
import { readMembers, storableText } from './input.js';
import type { ChangeOperation } from './operation.js';
import { refuseOwner } from './owner-protection.js';
import type { ChosenUser } from './switch-user.operation.js';

export interface SignedOutUser {
  readonly id: string;
  /** How many sessions had not ended by themselves. */
  readonly sessions: number;
  /** How many of the operator's page. */
  readonly operatorSessions: number;
}

export const SIGN_USER_OUT: ChangeOperation<ChosenUser, SignedOutUser> = {
  name: 'users sign-out',
  read: (input) => readMembers<ChosenUser>(input, { user: storableText }),

  changedUser: ({ user }) => user,

  async change({ user }, work) {
    const { parts, transaction, context } = work;
    const { id } = await findUser(user, parts, transaction);
    await refuseOwner(id, work);
    const { result: sessions, events } = await signOutEverywhere(parts, transaction, id, context);
    const operatorSessions = await parts.operatorSessions.deleteOfUser(transaction, id);
    return { result: { id, sessions, operatorSessions }, things: { userId: id }, events };
  },
};
