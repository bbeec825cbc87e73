// Opens, finds, lists and ends operators' sessions.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type {
  LiveOperatorSession,
  OperatorSession,
  SessionMoments,
} from '../../administration/accounts/operator-session.repository.js';
import { OperatorSessionRepository } from '../../administration/accounts/operator-session.repository.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { Purge } from '../../platform/jobs/purge.job.js';
import { ClockDifference } from '../../token-exchange/instance.js';

export const SESSION_SECONDS = 8 * 3600;
export const IDLE_SECONDS = 30 * 60;
/** How often the time of the last use is written, instead of at every call. */
const TOUCH_SECONDS = 60;
const SECRET_BYTES = 32;

/** Deletes expired sessions and expired records of failed sign-ins. */
export const OPERATOR_PURGE: Purge = {
  name: 'operator-purge',
  intervalSeconds: 300,
  batchSize: 1_000,
  tables: [
    { table: 'operator_session', time: 'expires_at', keptMs: 0 },
    { table: 'operator_session', time: 'last_used_at', keptMs: IDLE_SECONDS * 1_000 },
    { table: 'operator_sign_in_failure', time: 'forgotten_at', keptMs: 0 },
  ],
};

export interface OpenedOperatorSession {
  readonly session: OperatorSession;
  /** Only for the cookie. */
  readonly secret: string;
}

@Injectable()
export class OperatorSessionService {
  constructor(
    private readonly sessions: OperatorSessionRepository,
    private readonly clocks: ClockDifference,
  ) {}

  /**
   * @rule D105 A session lasts at most eight hours, and half an hour after its last use; its secret is stored
   * as a hash. See passwords.ts for the cost of a sign-in, and operator-session.repository.ts for role
   * and state.
   */
  async open(
    transaction: Transaction,
    userId: string,
    clientAddress: string,
  ): Promise<OpenedOperatorSession> {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const openedAt = this.clocks.databaseNow();
    const expiresAt = new Date(openedAt.getTime() + SESSION_SECONDS * 1000);
    const session = { id: randomUUID(), userId, openedAt, lastUsedAt: openedAt, expiresAt, clientAddress };
    await this.sessions.insert(transaction, hashOf(secret), session);
    return { session, secret };
  }

  /**
   * Undefined if the session has ended, or its user may no longer sign in.
   * @param isUse whether a person makes the request, which extends the session
   */
  async find(secret: string, isUse = true): Promise<LiveOperatorSession | undefined> {
    const moments = this.moments();
    const found = await this.sessions.findLive(hashOf(secret), moments);
    if (found === undefined) return undefined;
    const { now } = moments;
    if (isUse && now.getTime() - found.lastUsedAt.getTime() >= TOUCH_SECONDS * 1000)
      await this.sessions.touch(found.id, now);
    return found;
  }

  /** @returns the session; undefined if it had already ended */
  end(transaction: Transaction, secret: string): Promise<Pick<OperatorSession, 'id' | 'userId'> | undefined> {
    return this.sessions.deleteLive(transaction, hashOf(secret), this.moments());
  }

  list(
    after: Pick<OperatorSession, 'id' | 'openedAt'> | undefined,
    limit: number,
  ): Promise<LiveOperatorSession[]> {
    return this.sessions.list(this.moments(), after, limit);
  }

  countOfUser(userId: string): Promise<number> {
    return this.sessions.countOfUser(userId, this.moments());
  }

  private moments(): SessionMoments {
    const now = this.clocks.databaseNow();
    return { now, idleSince: new Date(now.getTime() - IDLE_SECONDS * 1000) };
  }
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}
