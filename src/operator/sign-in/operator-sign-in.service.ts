// Signs operators in and out, and changes their passwords.
import { Injectable } from '@nestjs/common';
import type { OperatorRefusalReason } from '../../audit/instance-events.js';
import type { RecordedWork, AuditEvent } from '../../token-exchange/instance.js';
import { AuditBus, auditEvent } from '../../token-exchange/instance.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Clock } from '../../platform/clock.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { OPERATOR_ROLES } from '../../users/role.js';
import type { OperatorAccount } from '../../administration/accounts/operator-account.repository.js';
import { OperatorAccountRepository } from '../../administration/accounts/operator-account.repository.js';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import { OperatorSessionRepository } from '../../administration/accounts/operator-session.repository.js';
import { PasswordHasher } from '../../administration/accounts/password-hasher.js';
import { faultOfPassword } from '../../administration/accounts/password-rules.js';
import { hashOfCode } from '../../administration/accounts/sign-in-codes.js';
import {
  SignInFailureRepository,
  failureKey,
} from '../../administration/accounts/sign-in-failure.repository.js';
import { OperatorRefusal } from './operator-refusal.filter.js';
import type { OpenedOperatorSession } from './operator-session.service.js';
import { OperatorSessionService } from './operator-session.service.js';

/** Where a request comes from. */
export interface Origin {
  /** As the throttle counts it. */
  readonly clientAddress: string;
  readonly requestId: string;
  /** The secret of the session that the browser has; undefined: none. */
  readonly presented?: string;
}

/** The result of a sign-in. */
export interface SignedIn extends OpenedOperatorSession {
  readonly account: OperatorAccount;
}

type RefusedWord = 'invalid_credentials' | 'invalid_code';

/** A refusal inside a transaction, which ends it. */
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
   * @throws TooManyRequestsError if the account waits for this address, or too many others are being checked
   */
  signIn(email: string, password: string, origin: Origin): Promise<SignedIn> {
    return this.inTurn(email, origin, async (key) => {
      const account = await this.checked(email, password, origin);
      return this.commit(origin, 'invalid_credentials', async (transaction) => {
        await this.confirmed(transaction, account);
        const opened = await this.sessions.open(transaction, account.id, origin.clientAddress);
        const signedIn = { account, ...opened };
        await this.failures.forget(transaction, key);
        const left = await this.left(transaction, origin);
        return { result: signedIn, events: [...left, this.signedIn(signedIn, 'password', origin)] };
      });
    });
  }

  /**
   * Sets the first password, or a new one, with a code from a command, and signs in.
   * @throws OperatorRefusal `invalid_code`, or `bad_request` for a password that breaks a rule
   * @throws TooManyRequestsError as `signIn`
   */
  setByCode(email: string, code: string, newPassword: string, origin: Origin): Promise<SignedIn> {
    refuseFault(newPassword);
    return this.inTurn(email, origin, async (key) => {
      // Before the code is looked up, so that a wrong one takes its turn and its time too: strangers write no more refusals by it.
      const hash = await this.hasher.hash(newPassword);
      const codeHash = hashOfCode(code);
      const userId = await this.accounts.findByCode(email, codeHash, this.clock.now());
      if (userId === undefined) {
        const known = await this.accounts.findByEmail(email);
        return this.refused('wrong_code', known?.id, origin, 'invalid_code');
      }
      return this.commit(origin, 'invalid_code', async (transaction) => {
        const account = await this.accounts.lock(userId, transaction);
        // Of two requests at once one uses the code, by the lock of the row.
        const now = this.clock.now();
        if (!(await this.accounts.takeCode(transaction, userId, codeHash, now)))
          throw new LateRefusal('wrong_code', userId);
        const { signedIn, changed } = await this.changed(transaction, account, hash, 'code', origin);
        await this.failures.forget(transaction, key);
        const left = await this.left(transaction, origin);
        return { result: signedIn, events: [changed, ...left, this.signedIn(signedIn, 'code', origin)] };
      });
    });
  }

  /**
   * Changes one's own password. All sessions of before end, and another one is opened.
   * @throws OperatorRefusal `invalid_credentials`, or `bad_request` for a password that breaks a rule
   * @throws TooManyRequestsError as `signIn`
   */
  changePassword(
    { email }: LiveOperatorSession,
    password: string,
    newPassword: string,
    origin: Origin,
  ): Promise<SignedIn> {
    refuseFault(newPassword);
    return this.inTurn(email, origin, async (key) => {
      const account = await this.checked(email, password, origin);
      const hash = await this.hasher.hash(newPassword);
      return this.commit(origin, 'invalid_credentials', async (transaction) => {
        const present = await this.confirmed(transaction, account);
        const { signedIn, changed } = await this.changed(transaction, present, hash, 'password', origin);
        await this.failures.forget(transaction, key);
        return { result: signedIn, events: [changed] };
      });
    });
  }

  async signOut(session: LiveOperatorSession, origin: Origin): Promise<void> {
    await this.audit.commit(async (transaction) => {
      await this.rows.delete(transaction, session.id);
      return { result: undefined, events: [this.signedOut(session, origin)] };
    });
  }

  private signedOut(
    { id, userId }: Pick<LiveOperatorSession, 'id' | 'userId'>,
    { requestId, clientAddress }: Origin,
  ): AuditEvent {
    const context = { occurredAt: this.clock.now(), requestId, subjectUserId: userId };
    return auditEvent('svc.audit.operator.signed-out', context, { clientAddress, operatorSessionId: id });
  }

  /**
   * Queues the check of an attempt. An attempt that must wait for its account takes no place; it is counted only once it is
   * checked, so that a crowd delays no other account.
   * @param work gets the function that forgets the attempt after a success
   */
  private async inTurn<T>(
    email: string,
    { clientAddress }: Origin,
    work: (key: Buffer) => Promise<T>,
  ): Promise<T> {
    const key = failureKey(email, clientAddress);
    refuseWaiting(await this.failures.wait(key, this.clock.now()));
    return this.hasher.turns.inTurn(clientAddress, async () => {
      refuseWaiting(await this.failures.begin(key, this.clock.now()));
      return work(key);
    });
  }

  /** A refusal inside the transaction is recorded after it, since it is rolled back. */
  private async commit<Result>(
    origin: Origin,
    word: RefusedWord,
    work: (transaction: Transaction) => Promise<RecordedWork<Result>>,
  ): Promise<Result> {
    try {
      return await this.audit.commit(work);
    } catch (error) {
      if (error instanceof LateRefusal) return this.refused(error.reason, error.userId, origin, word);
      throw error;
    }
  }

  /** Ends the earlier session of a browser that signs in again, whose cookie is replaced. */
  private async left(transaction: Transaction, origin: Origin): Promise<AuditEvent[]> {
    const { presented } = origin;
    const ended = presented === undefined ? undefined : await this.sessions.end(transaction, presented);
    return ended === undefined ? [] : [this.signedOut(ended, origin)];
  }

  /** The account of an e-mail address, if the password is its own and it may sign in. */
  private async checked(
    email: string,
    password: string,
    origin: Origin,
  ): Promise<OperatorAccount & { readonly passwordHash: string }> {
    const account = await this.accounts.findByEmail(email);
    const isRight = await this.hasher.isRight(password, account?.passwordHash ?? undefined);
    const reason = reasonAgainst(account, isRight);
    if (reason !== undefined || account === undefined || account.passwordHash === null)
      return this.refused(reason ?? 'no_password', account?.id, origin, 'invalid_credentials');
    return { ...account, passwordHash: account.passwordHash };
  }

  private async refused(
    reason: OperatorRefusalReason,
    userId: string | undefined,
    { requestId, clientAddress }: Origin,
    word: RefusedWord,
  ): Promise<never> {
    const context = { occurredAt: this.clock.now(), requestId, subjectUserId: userId };
    await this.audit.record([
      auditEvent('svc.audit.operator.sign-in-failed', context, { clientAddress, reason }),
    ]);
    throw new OperatorRefusal(word);
  }

  /** Role, state and password must be as they were checked: they may have changed while the hash was computed. */
  private async confirmed(
    transaction: Transaction,
    { id, passwordHash }: OperatorAccount,
  ): Promise<OperatorAccount | undefined> {
    const present = await this.accounts.lock(id, transaction);
    const reason = reasonAgainst(present, present?.passwordHash === passwordHash);
    if (reason !== undefined) throw new LateRefusal(reason, present?.id);
    return present;
  }

  /** @param account locked */
  private async changed(
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

  private signedIn({ account, session }: SignedIn, by: 'password' | 'code', origin: Origin): AuditEvent {
    const { requestId, clientAddress } = origin;
    const context = { occurredAt: this.clock.now(), requestId, subjectUserId: account.id };
    const payload = { clientAddress, by, operatorSessionId: session.id };
    return auditEvent('svc.audit.operator.signed-in', context, payload);
  }
}

/** Checked only after the password was, so that all of them take the same work. */
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
