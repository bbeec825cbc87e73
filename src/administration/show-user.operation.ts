// Shows one user with identities, sessions and last sign-ins.
import type { UserProfile } from './accounts/user-profile.repository.js';
import { findUser } from './find-user.js';
import { readMembers, storableText } from './input.js';
import type { ListedUser } from './list-users.operation.js';
import { listedUser } from './list-users.operation.js';
import type { ListOperation } from './operation.js';
import type { ChosenUser } from './switch-user.operation.js';

export type ShownUser = ListedUser & UserProfile;

/** A list of one. */
export const SHOW_USER: ListOperation<ChosenUser, ShownUser> = {
  name: 'users show',
  read: (input) => readMembers<ChosenUser>(input, { user: storableText }),

  async *list({ user }, parts) {
    const found = await findUser(user, parts);
    const profile = await parts.userProfiles.find(found.id, new Date());
    if (profile !== undefined) yield [{ ...listedUser(found), ...profile }];
  },
};
