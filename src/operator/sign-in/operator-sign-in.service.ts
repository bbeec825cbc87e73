// Signs operators in and out, and changes their passwords.
import { Injectable } from '@nestjs/common';
import type { OperatorAccount } from '../../administration/accounts/operator-account.repository.js';
import {
  failureKey,
  OperatorAccountRepository,
  SignInFailureRepository,
} from '../../administration/accounts/operator-account.repository.js';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import { OperatorSessionRepository } from '../../administration/accounts/operator-session.repository.js';
import { faultOfPassword, hashOfCode, PasswordHasher } from '../../administration/accounts/passwords.js';
import type { OperatorRefusalReason } from '../../audit/instance-events.js';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import type { AuditEvent, RecordedWork } from '../../token-exchange/instance.js';
import { AuditBus, auditEvent } from '../../token-exchange/instance.js';
import { OPERATOR_ROLES } from '../../users/role.js';
import { OperatorRefusal } from './operator-refusal.filter.js';
import type { OpenedOperatorSession } from './operator-session.service.js';
import { OperatorSessionService } from './operator-session.service.js';

export interface Origin {
  /** The client in the throttle's format. */
  readonly clientAddress: string;
  readonly requestId: string;
  /** The secret of the browser's current session; undefined if there is none. */
  readonly presented?: string;
}

export interface SignedIn extends OpenedOperatorSession {
  readonly account: OperatorAccount;
}

type RefusalCode = 'invalid_credentials' | 'invalid_code';

/** A refusal inside a transaction. It rolls the transaction back. */
class LateRefusal extends Error {
  constructor(
    readonly reason: OperatorRefusalReason,
    readonly userId: string | undefined,
  ) {
    super(reason);
  }
}

@Injectable()
export class OperatorSignInService {
  constructor(
    private readonly accounts: OperatorAccountRepository,
    private readonly rows: OperatorSessionRepository,
    private readonly sessions: OperatorSessionService,
    private readonly failures: SignInFailureRepository,
    private readonly hasher: PasswordHasher,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws OperatorRefusal `invalid_credentials` for every reason
   * @throws TooManyRequestsError if the account must wait for this address, or too many others are being
   * checked
   */
  signIn(email: string, password: string, origin: Origin): Promise<SignedIn> {
    return this.queued(email, origin, async (key) => {
      const account = await this.authenticate(email, password, origin);
      return this.commit(origin, 'invalid_credentials', async (transaction) => {
        await this.recheck(transaction, account);
        const opened = await this.sessions.open(transaction, account.id, origin.clientAddress);
        const signedIn = { account, ...opened };
        await this.failures.forget(transaction, key);
        const ended = await this.endPresented(transaction, origin);
        return { result: signedIn, events: [...ended, this.signedInEvent(signedIn, 'password', origin)] };
      });
    });
  }

  /**
   * Sets the first or a new password with a code from a command, and signs in.
   * @throws OperatorRefusal `invalid_code`, or `bad_request` for a password that breaks a rule
   * @throws TooManyRequestsError like `signIn`
   */
  setByCode(email: string, code: string, newPassword: string, origin: Origin): Promise<SignedIn> {
    refuseFault(newPassword);
    return this.queued(email, origin, async (key) => {
      // The hash is calculated first, so a wrong code takes as long as a right one. Therefore strangers cannot fill
      // the audit trail faster with codes than with passwords.
      const hash = await this.hasher.hash(newPassword);
      const codeHash = hashOfCode(code);
      const userId = await this.accounts.findByCode(email, codeHash, this.clock.now());
      if (userId === undefined) {
        const known = await this.accounts.findByEmail(email);
        return this.refuse('wrong_code', known?.id, origin, 'invalid_code');
      }
      return this.commit(origin, 'invalid_code', async (transaction) => {
        const account = await this.accounts.lock(userId, transaction);
        // The row lock lets only one of two concurrent requests use the code.
        const now = this.clock.now();
        if (!(await this.accounts.takeCode(transaction, userId, codeHash, now)))
          throw new LateRefusal('wrong_code', userId);
        const { signedIn, changed } = await this.replacePassword(transaction, account, hash, 'code', origin);
        await this.failures.forget(transaction, key);
        const ended = await this.endPresented(transaction, origin);
        return {
          result: signedIn,
          events: [changed, ...ended, this.signedInEvent(signedIn, 'code', origin)],
        };
      });
    });
  }

  /**
   * Changes the operator's own password. Ends all earlier sessions, and opens a new one.
   * @throws OperatorRefusal `invalid_credentials`, or `bad_request` for a password that breaks a rule
   * @throws TooManyRequestsError like `signIn`
   */
  changePassword(
    { email }: LiveOperatorSession,
    password: string,
    newPassword: string,
    origin: Origin,
  ): Promise<SignedIn> {
    refuseFault(newPassword);
    return this.queued(email, origin, async (key) => {
      const account = await this.authenticate(email, password, origin);
      const hash = await this.hasher.hash(newPassword);
      return this.commit(origin, 'invalid_credentials', async (transaction) => {
        const present = await this.recheck(transaction, account);
        const { signedIn, changed } = await this.replacePassword(
          transaction,
          present,
          hash,
          'password',
          origin,
        );
        await this.failures.forget(transaction, key);
        return { result: signedIn, events: [changed] };
      });
    });
  }

  async signOut(session: LiveOperatorSession, origin: Origin): Promise<void> {
    await this.audit.commit(async (transaction) => {
      await this.rows.delete(transaction, session.id);
      return { result: undefined, events: [this.signedOutEvent(session, origin)] };
    });
  }

  private signedOutEvent(
    { id, userId }: Pick<LiveOperatorSession, 'id' | 'userId'>,
    { requestId, clientAddress }: Origin,
  ): AuditEvent {
    const context = { occurredAt: this.clock.now(), requestId, subjectUserId: userId };
    return auditEvent('svc.audit.operator.signed-out', context, { clientAddress, operatorSessionId: id });
  }

  /**
   * Queues the check of an attempt, unless the account must wait. An attempt is counted only when it is checked,
   * so attempts that the full queue refuses do not make their account wait.
   * @param work gets the key of the attempt's failures, to delete them after a success
   */
  private async queued<T>(
    email: string,
    { clientAddress }: Origin,
    work: (key: Buffer) => Promise<T>,
  ): Promise<T> {
    const key = failureKey(email, clientAddress);
    refuseWaiting(await this.failures.wait(key, this.clock.now()));
    return this.hasher.queue.run(async () => {
      refuseWaiting(await this.failures.begin(key, this.clock.now()));
      return work(key);
    });
  }

  /** Runs `work` in a transaction. A `LateRefusal` rolls it back and is recorded afterwards. */
  private async commit<Result>(
    origin: Origin,
    code: RefusalCode,
    work: (transaction: Transaction) => Promise<RecordedWork<Result>>,
  ): Promise<Result> {
    try {
      return await this.audit.commit(work);
    } catch (error) {
      if (error instanceof LateRefusal) return this.refuse(error.reason, error.userId, origin, code);
      throw error;
    }
  }

  /** Ends the earlier session of a browser that signs in again, because its cookie is replaced. */
  private async endPresented(transaction: Transaction, origin: Origin): Promise<AuditEvent[]> {
    const { presented } = origin;
    const ended = presented === undefined ? undefined : await this.sessions.end(transaction, presented);
    return ended === undefined ? [] : [this.signedOutEvent(ended, origin)];
  }

  /** The account of an e-mail address, if its password is right and it may sign in. */
  private async authenticate(
    email: string,
    password: string,
    origin: Origin,
  ): Promise<OperatorAccount & { readonly passwordHash: string }> {
    const account = await this.accounts.findByEmail(email);
    const isRight = await this.hasher.isRight(password, account?.passwordHash ?? undefined);
    const reason = reasonAgainst(account, isRight);
    if (reason !== undefined || account === undefined || account.passwordHash === null)
      return this.refuse(reason ?? 'no_password', account?.id, origin, 'invalid_credentials');
    return { ...account, passwordHash: account.passwordHash };
  }

  private async refuse(
    reason: OperatorRefusalReason,
    userId: string | undefined,
    { requestId, clientAddress }: Origin,
    code: RefusalCode,
  ): Promise<never> {
    const context = { occurredAt: this.clock.now(), requestId, subjectUserId: userId };
    await this.audit.record([
      auditEvent('svc.audit.operator.sign-in-failed', context, { clientAddress, reason }),
    ]);
    throw new OperatorRefusal(code);
  }

  /** Checks role, state and password again: they may have changed while the hash was computed. */
  private async recheck(
    transaction: Transaction,
    { id, passwordHash }: OperatorAccount,
  ): Promise<OperatorAccount | undefined> {
    const present = await this.accounts.lock(id, transaction);
    const reason = reasonAgainst(present, present?.passwordHash === passwordHash);
    if (reason !== undefined) throw new LateRefusal(reason, present?.id);
    return present;
  }

  /** @param account locked */
  private async replacePassword(
    transaction: Transaction,
    account: OperatorAccount | undefined,
    hash: string,
    by: 'code' | 'password',
    { requestId, clientAddress }: Origin,
  ): Promise<{ readonly signedIn: SignedIn; readonly changed: AuditEvent }> {
    const occurredAt = this.clock.now();
    const reason = reasonAgainst(account, true);
    if (reason !== undefined || account === undefined)
      throw new LateRefusal(reason ?? 'unknown_account', account?.id);
    const { id: userId } = account;
    await this.accounts.setPassword(transaction, userId, hash, occurredAt);
    const endedSessions = await this.rows.deleteOfUser(transaction, userId);
    const context = { occurredAt, requestId, subjectUserId: userId };
    const payload = { clientAddress, by, endedSessions };
    const changed = auditEvent('svc.audit.operator.password-changed', context, payload);
    const opened = await this.sessions.open(transaction, userId, clientAddress);
    return { signedIn: { account, ...opened }, changed };
  }

  private signedInEvent({ account, session }: SignedIn, by: 'password' | 'code', origin: Origin): AuditEvent {
    const { requestId, clientAddress } = origin;
    const context = { occurredAt: this.clock.now(), requestId, subjectUserId: account.id };
    const payload = { clientAddress, by, operatorSessionId: session.id };
    return auditEvent('svc.audit.operator.signed-in', context, payload);
  }
}

/** Called only after the password was checked, so that every attempt takes the same time. */
function reasonAgainst(
  account: OperatorAccount | undefined,
  isRight: boolean,
): OperatorRefusalReason | undefined {
  if (account === undefined) return 'unknown_account';
  if (!account.enabled) return 'user_disabled';
  if (!OPERATOR_ROLES.includes(account.role)) return 'not_privileged';
  if (account.passwordHash === null) return isRight ? undefined : 'no_password';
  return isRight ? undefined : 'wrong_password';
}

/** @throws TooManyRequestsError */
function refuseWaiting(waitSeconds: number | undefined): void {
  if (waitSeconds !== undefined) throw new TooManyRequestsError(waitSeconds);
}

function refuseFault(password: string): void {
  const fault = faultOfPassword(password);
  if (fault !== undefined) throw new OperatorRefusal('bad_request', `newPassword ${fault}`);
}
