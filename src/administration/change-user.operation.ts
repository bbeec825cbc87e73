// Gives a user another role, unlinks a user from identities of an issuer, or deletes a user.
import { isUniqueViolation } from '../platform/database/database-error.js';
import type { AuditEvent } from '../token-exchange/instance.js';
import { signOutEverywhere } from '../token-exchange/instance.js';
import { GLOBAL_ROLES, OWNER_ROLE } from '../users/role.js';
import { userChanged } from '../audit/user-changed.js';
import { CommandError } from './command-error.js';
import { CHOSEN_USER, findUser, OWNER_EXISTS, readUser, USER } from './users.operations.js';
import { members, oneOf, optional, storableText } from './input.js';
import type { ChangeWork } from './operation.js';
import { changeOperation } from './operation.js';
import { printable } from './table.js';
import { counted } from '../platform/text/wording.js';

const readRole = members({ ...CHOSEN_USER, role: oneOf(GLOBAL_ROLES) });

export const SET_ROLE = changeOperation('users set-role', readRole, {
  async change({ user, role }, { parts, transaction, context }) {
    const found = await findUser(user, parts, transaction);
    const from = (await parts.users.lock(found.id, transaction)) ?? found;
    const { id } = from;
    try {
      await parts.users.update(id, { role }, transaction);
    } catch (error) {
      if (role !== OWNER_ROLE || !isUniqueViolation(error)) throw error;
      throw new CommandError(OWNER_EXISTS);
    }
    const events = [userChanged(context, { id, from, to: { ...from, role } })];
    return { result: { id, from: from.role, to: role }, things: { userId: id }, events };
  },

  command: {
    about: 'give a user another global role; at most one user is the owner',
    takes: { ...USER, role: ['<role>', 'the role', GLOBAL_ROLES] },
    more: 'The new role counts at once, also for sessions and access tokens. The role claim of a later token may change it again.',
    example: 'user@example.com global:admin',
    text: ({ id, from, to }) =>
      from === to ? `User ${id} was ${to} already.\n` : `User ${id} is ${to}, and was ${from}.\n`,
  },
});

const readLinks = members({
  ...CHOSEN_USER,
  issuer: storableText,
  /** The `sub` of one of its identities; left out: all of them. */
  subject: optional(storableText),
});

/**
 * A wrong link gave sessions and tokens to the wrong person, and they cannot be distinguished from the rest: so all of them end.
 */
export const UNLINK_USER = changeOperation('users unlink', readLinks, {
  async change({ user, ...links }, work) {
    const { id } = await findUser(user, work.parts, work.transaction);
    const { unlinked, left } = await work.parts.userProfiles.unlink(work.transaction, id, links);
    if (unlinked === 0)
      throw new CommandError(
        left === 0
          ? 'The user is linked to no such identity; see svc-admin users show.'
          : 'This identity created the user and cannot be unlinked: see svc-admin users delete.',
      );
    const { sessions, events } = await endAccess(id, work);
    return { result: { id, unlinked, sessions }, things: { userId: id, issuer: links.issuer }, events };
  },

  command: {
    about: 'undo a wrong link of identities of an issuer to a user, and sign the user out everywhere',
    takes: USER,
    more:
      'The next token of that identity counts as unknown: if it has the e-mail address of the user, it is linked\n' +
      'again, unless the entry no longer allows such addresses (emailDomains) or users (linkPrivileged).',
    example: 'user@example.com --issuer https://partner.example --subject 42',
    text: ({ id, unlinked, sessions }, { issuer }) =>
      `User ${id} is unlinked from ${counted(unlinked, 'identity', 'identities')} of ${printable(issuer)}, ` +
      `and signed out everywhere: ${counted(sessions, 'session')}, and every access token issued until now.\n`,
  },
});

/** The schema's cascades delete what belongs to the user alone. The trail keeps its events, which hold the id. */
export const DELETE_USER = changeOperation('users delete', readUser, {
  async change({ user }, work) {
    const { parts, transaction } = work;
    const found = await findUser(user, parts, transaction);
    const from = (await parts.users.lock(found.id, transaction)) ?? found;
    const { id, role } = from;
    if (role === OWNER_ROLE)
      throw new CommandError(
        'The owner cannot be deleted: first give that user another role (users set-role).',
      );
    const { sessions, events } = await endAccess(id, work);
    await parts.users.delete(id, transaction);
    const deleted = userChanged(work.context, { id, from });
    return { result: { id, sessions }, things: { userId: id }, events: [...events, deleted] };
  },

  command: {
    about: 'delete a user for good; without --yes only print what would be deleted',
    takes: USER,
    more:
      'It deletes the account, its links, sessions, password, memberships, and its personal project with all in it. Access\n' +
      'tokens end at once. The audit trail keeps its events, which hold the id of the user and no name or address; projects\n' +
      'of teams stay. A later token with that e-mail address creates a new user, if its entry allows it.',
    example: 'user@example.com --yes',
    text: ({ id }) => `User ${id} is deleted; the audit trail keeps what it did.\n`,
  },
});

async function endAccess(
  id: string,
  { parts, transaction, context }: ChangeWork,
): Promise<{ sessions: number; events: readonly AuditEvent[] }> {
  const { result: sessions, events } = await signOutEverywhere(parts, transaction, id, context);
  return { sessions, events };
}
