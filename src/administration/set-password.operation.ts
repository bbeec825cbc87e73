// Sets the password of an operator, or a code with which the operator sets it. Neither password nor code comes here, only their
// hashes.
import { auditEvent } from '../token-exchange/instance.js';
import { CODE_LIFETIME_SECONDS } from './accounts/password-rules.js';
import { isPasswordHash } from './accounts/password-hasher.js';
import { OPERATOR_ROLES } from '../users/role.js';
import type { User } from '../users/user.repository.js';
import { CommandError } from './command-error.js';
import { CHOSEN_USER, findUser } from './users.operations.js';
import type { Read } from './input.js';
import { members, optional } from './input.js';
import type { ChangeWork } from './operation.js';
import { changeOperation } from './operation.js';

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
async function passwordBearer(idOrEmail: string, { parts, transaction }: ChangeWork): Promise<User> {
  const found = await findUser(idOrEmail, parts, transaction);
  const user = (await parts.users.lock(found.id, transaction)) ?? found;
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
