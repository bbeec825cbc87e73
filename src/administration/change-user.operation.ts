// Gives a user another role, unlinks a user from identities of an issuer, or deletes a user.
import { isUniqueViolation } from '../platform/database/database-error.js';
import { signOutEverywhere } from '../token-exchange/instance.js';
import type { AuditEvent } from '../token-exchange/plain.js';
import { GLOBAL_ROLES, OWNER_ROLE } from '../users/role.js';
import { userChanged } from '../audit/user-changed.js';
import { CommandError } from './command-error.js';
import { CHOSEN_USER, findUser, OWNER_EXISTS, readUser } from './users.operations.js';
import { members, oneOf, optional, storableText } from './input.js';
import type { ChangeWork } from './operation.js';
import { changeOperation } from './operation.js';

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
});

async function endAccess(
  id: string,
  { parts, transaction, context }: ChangeWork,
): Promise<{ sessions: number; events: readonly AuditEvent[] }> {
  const { result: sessions, events } = await signOutEverywhere(parts, transaction, id, context);
  return { sessions, events };
}
