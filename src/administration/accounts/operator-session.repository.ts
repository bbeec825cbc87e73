// Operators' sessions: the rows and all their queries.
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../../platform/database/database.js';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { GlobalRole } from '../../users/role.js';
import { OPERATOR_ROLES } from '../../users/role.js';
import { OperatorSessions } from '../../users/user.repository.js';

/** A session. Only the hash of its secret is stored, so that a reader of the table cannot use it. */
export interface OperatorSession {
  /** Identifies the session in lists and in the trail; it gives no access. */
  readonly id: string;
  readonly userId: string;
  readonly openedAt: Date;
  /** Accurate to the minute. */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  /** The client in the throttle's format. */
  readonly clientAddress: string;
}

/** A session with the current data of its user. */
export interface LiveOperatorSession extends OperatorSession {
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly role: GlobalRole;
}

export interface SessionMoments {
  readonly now: Date;
  /** A session that was not used since then has ended. */
  readonly idleSince: Date;
}

const LIVE = `SELECT s.id::text AS id, s.user_id::text AS "userId", s.opened_at AS "openedAt", s.last_used_at AS "lastUsedAt",
    s.expires_at AS "expiresAt", s.client_address AS "clientAddress", u.email, u.given_name AS "givenName",
    u.family_name AS "familyName", u.role
  FROM operator_session s JOIN user_account u ON u.id = s.user_id
  WHERE s.expires_at > $1 AND s.last_used_at > $2 AND s.access_generation = u.access_generation AND u.enabled
    AND u.role = ANY ($3)`;

@Injectable()
export class OperatorSessionRepository extends OperatorSessions {
  constructor(@Inject(OPERATOR_DATABASE) private readonly database: StatementPool) {
    super();
  }

  /** @param session a session of a user whose row is locked */
  async insert(transaction: Transaction, secretHash: Buffer, session: OperatorSession): Promise<void> {
    const { id, userId, openedAt, lastUsedAt, expiresAt, clientAddress } = session;
    await managerOf(transaction).query(
      `INSERT INTO operator_session
         (id, secret_hash, user_id, opened_at, last_used_at, expires_at, client_address, access_generation)
       SELECT $1, $2, u.id, $4, $5, $6, $7, u.access_generation FROM user_account u WHERE u.id = $3`,
      [id, secretHash, userId, openedAt, lastUsedAt, expiresAt, clientAddress],
    );
  }

  /** Checks the user's current role, state and access generation. */
  async findLive(secretHash: Buffer, moments: SessionMoments): Promise<LiveOperatorSession | undefined> {
    const [found] = await this.database.query<LiveOperatorSession>(`${LIVE} AND s.secret_hash = $4`, [
      ...liveBy(moments),
      secretHash,
    ]);
    return found;
  }

  /**
   * A page of the live sessions, newest first.
   * @param after only later rows in this order are returned
   */
  list(
    moments: SessionMoments,
    after: Pick<OperatorSession, 'id' | 'openedAt'> | undefined,
    limit: number,
  ): Promise<LiveOperatorSession[]> {
    return this.database.query<LiveOperatorSession>(
      `${LIVE} AND ($4::timestamptz IS NULL OR (s.opened_at, s.id) < ($4, $5::uuid))
       ORDER BY s.opened_at DESC, s.id DESC LIMIT $6`,
      [...liveBy(moments), after?.openedAt ?? null, after?.id ?? null, limit],
    );
  }

  async countOfUser(userId: string, moments: SessionMoments): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM (${LIVE} AND s.user_id = $4) live`,
      [...liveBy(moments), userId],
    );
    return row?.count ?? 0;
  }

  async touch(id: string, now: Date): Promise<void> {
    await this.database.change('UPDATE operator_session SET last_used_at = $2 WHERE id = $1', [id, now]);
  }

  /** @returns the session; undefined if no session with this id was live */
  async deleteLive(
    transaction: Transaction,
    secretHash: Buffer,
    { now, idleSince }: SessionMoments,
  ): Promise<Pick<OperatorSession, 'id' | 'userId'> | undefined> {
    const [deleted] = await managerOf(transaction).query<Pick<OperatorSession, 'id' | 'userId'>[]>(
      `WITH deleted AS (
         DELETE FROM operator_session WHERE secret_hash = $1 AND expires_at > $2 AND last_used_at > $3 RETURNING id, user_id
       ) SELECT id::text AS id, user_id::text AS "userId" FROM deleted`,
      [secretHash, now, idleSince],
    );
    return deleted;
  }

  /** @returns the session's user; undefined if the session did not exist */
  async delete(transaction: Transaction, id: string): Promise<string | undefined> {
    const [deleted] = await managerOf(transaction).query<{ userId: string }[]>(
      `WITH deleted AS (DELETE FROM operator_session WHERE id = $1 RETURNING user_id)
       SELECT user_id::text AS "userId" FROM deleted`,
      [id],
    );
    return deleted?.userId;
  }

  async deleteOfUser(transaction: Transaction, userId: string): Promise<number> {
    const deleted = await managerOf(transaction).query<unknown[]>(
      `WITH deleted AS (DELETE FROM operator_session WHERE user_id = $1 RETURNING 1) SELECT 1 FROM deleted`,
      [userId],
    );
    return deleted.length;
  }
}

function liveBy({ now, idleSince }: SessionMoments): unknown[] {
  return [now, idleSince, OPERATOR_ROLES];
}
