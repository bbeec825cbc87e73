// What changes a user: role, links, state, sessions and password, and the deletion. Neither password nor code comes here, only their
// hashes.
import { userChanged } from '../audit/user-changed.js';
import { isUniqueViolation } from '../platform/database/database-error.js';
import { counted } from '../platform/text/wording.js';
import { auditEvent, signOutEverywhere } from '../token-exchange/instance.js';
import { GLOBAL_ROLES, OPERATOR_ROLES, OWNER_ROLE } from '../users/role.js';
import type { User } from '../users/user.repository.js';
import { CODE_LIFETIME_SECONDS, isPasswordHash } from './accounts/passwords.js';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { members, oneOf, optional, storableText } from './input.js';
import type { ChangeWork } from './operation.js';
import { changeOperation } from './operation.js';
import { printable } from './table.js';
import { CHOSEN_USER, findUser, OWNER_EXISTS, readUser, USER } from './users.operations.js';

const readRole = members({ ...CHOSEN_USER, role: oneOf(GLOBAL_ROLES) });

export const SET_ROLE = changeOperation('users set-role', readRole, {
  async change({ user, role }, work) {
    const { parts, transaction, context } = work;
    const from = await lockedUser(user, work);
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
  async change({ user, ...links }, { parts, transaction, context }) {
    const { id } = await findUser(user, parts, transaction);
    const { unlinked, left } = await parts.userProfiles.unlink(transaction, id, links);
    if (unlinked === 0)
      throw new CommandError(
        left === 0
          ? 'The user is linked to no such identity; see svc-admin users show.'
          : 'This identity created the user and cannot be unlinked: see svc-admin users delete.',
      );
    const { result: sessions, events } = await signOutEverywhere(parts, transaction, id, context);
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
    const { parts, transaction, context } = work;
    const from = await lockedUser(user, work);
    const { id, role } = from;
    if (role === OWNER_ROLE)
      throw new CommandError(
        'The owner cannot be deleted: first give that user another role (users set-role).',
      );
    const { result: sessions, events } = await signOutEverywhere(parts, transaction, id, context);
    await parts.users.delete(id, transaction);
    const deleted = userChanged(context, { id, from });
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

export const DISABLE_USER = switching('users disable', false, 'end all access of a user at once');
export const ENABLE_USER = switching('users enable', true, 'let a disabled user sign in again');

function switching(name: string, enabled: boolean, about: string) {
  const state = enabled ? 'enabled' : 'disabled';
  return changeOperation(name, readUser, {
    changedUser: ({ user }) => user,
    async change({ user }, work) {
      const { parts, transaction, context, operator } = work;
      const from = await lockedUser(user, work);
      const { id } = from;
      if (!enabled && id === operator?.id) throw new CommandError('You cannot disable your own account.');
      await parts.users.update(id, { enabled }, transaction);
      const events = [userChanged(context, { id, from, to: { ...from, enabled } })];
      return { result: { id }, things: { userId: id }, events };
    },

    command: {
      about,
      takes: USER,
      example: 'user@example.com',
      text: ({ id }) => `User ${id} is ${state}.\n`,
      json: ({ id }) => ({ id, state }),
    },
  });
}

/** Says how many sessions had not ended by themselves, and how many of the operator's page there were. */
export const SIGN_USER_OUT = changeOperation('users sign-out', readUser, {
  changedUser: ({ user }) => user,

  async change({ user }, { parts, transaction, context }) {
    const { id } = await findUser(user, parts, transaction);
    const { result: sessions, events } = await signOutEverywhere(parts, transaction, id, context);
    const operatorSessions = await parts.operatorSessions.deleteOfUser(transaction, id);
    return { result: { id, sessions, operatorSessions }, things: { userId: id }, events };
  },

  command: {
    about: 'end all sessions and access tokens of a user, on every instance; a new login works',
    takes: USER,
    example: 'user@example.com',
    text: ({ id, sessions, operatorSessions }) =>
      `User ${id} is signed out: ${counted(sessions + operatorSessions, 'session')}, and every access token issued until now.\n`,
  },
});

/** Its row is locked until the transaction ends. @throws CommandError where there is none */
async function lockedUser(idOrEmail: string, { parts, transaction }: ChangeWork): Promise<User> {
  const found = await findUser(idOrEmail, parts, transaction);
  return (await parts.users.lock(found.id, transaction)) ?? found;
}

const readPassword = members({
  ...CHOSEN_USER,
  passwordHash: optional(passwordHash),
  codeHash: optional(sha256),
});

/** Takes one of the two: the hash of a password that its rules allow, or that of a sign-in code. */
export const SET_PASSWORD = changeOperation('users set-password', readPassword, {
  async change({ user, passwordHash: hash, codeHash }, work) {
    const { parts, transaction, context } = work;
    const { id } = await passwordBearer(user, work);
    const things = { userId: id };
    if (codeHash !== undefined) {
      const expiresAt = new Date(context.occurredAt.getTime() + CODE_LIFETIME_SECONDS * 1000);
      await parts.operatorAccounts.setCode(transaction, id, Buffer.from(codeHash, 'hex'), expiresAt);
      return { result: { id, endedSessions: 0 }, things };
    }
    if (hash === undefined) throw new CommandError('There is neither a password nor a code.');
    await parts.operatorAccounts.setPassword(transaction, id, hash, context.occurredAt);
    const endedSessions = await parts.operatorSessions.deleteOfUser(transaction, id);
    const event = auditEvent(
      'svc.audit.operator.password-changed',
      { ...context, subjectUserId: id },
      { by: 'command', endedSessions },
    );
    return { result: { id, endedSessions }, things, events: [event] };
  },
});

/**
 * @rule D108 Only an owner or administrator has a password, and no user whom a partner's token provisioned (2.5.2).
 * @throws CommandError
 */
async function passwordBearer(idOrEmail: string, work: ChangeWork): Promise<User> {
  const user = await lockedUser(idOrEmail, work);
  const { parts, transaction } = work;
  if (await parts.operatorAccounts.isProvisioned(user.id, transaction))
    throw new CommandError(
      "A partner's token created this user: such users sign in with tokens only and get no password.",
    );
  if (!OPERATOR_ROLES.includes(user.role))
    throw new CommandError(`Only users with one of the roles ${OPERATOR_ROLES.join(', ')} have a password.`);
  if (!user.enabled) throw new CommandError('The user is disabled; enable it first.');
  return user;
}

function passwordHash(value: unknown): Read<string> {
  return typeof value === 'string' && isPasswordHash(value)
    ? { value }
    : { rule: 'must be a hash of argon2id' };
}

function sha256(value: unknown): Read<string> {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
    ? { value }
    : { rule: 'must be SHA-256 in hexadecimal' };
}
