// Browser sessions: the row and all its queries.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Sql } from '../../platform/database/sql.js';
import { sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { ExternalLogin, IssuerKey, Logout } from '../revocation/revocations.js';
import { keysOfLogin, readRecordedKeys, recordedKeys } from '../revocation/revocations.js';

/** A session. Only the hash of its id is stored, so that a reader of the table cannot use a session. */
export interface WebSession {
  /** SHA-256 of the session id. */
  readonly idHash: Buffer;
  readonly userId: string;
  /** Shared with the sessions from which it was renewed, and with its own renewals. */
  readonly familyId: string;
  /** The time by the clock of the instance that opened it. Revocations and logouts also use instances' clocks. */
  readonly createdAt: Date;
  /** The time by the clock of the database, which all instances share. */
  readonly expiresAt: Date;
  /** The origin of the page that posted the login; null if it named none. */
  readonly loginOrigin: string | null;
  /** The keys of its login and of the sessions that it renews; null if they were not recorded. */
  readonly signedBy: readonly IssuerKey[] | null;
  /** The user's access generation when the login was decided; null if the host has none. Each use compares it. */
  readonly accessGeneration: string | null;
  /** The login that opened it; null if it was not recorded. */
  readonly externalLogin: ExternalLogin | null;
  /** The thumbprint (RFC 7638) of a bound session's key; null if the session is in a cookie. */
  readonly keyThumbprint: string | null;
  /** The latest use by the clock of the database, to within some seconds. */
  readonly usedAt: Date;
}

/** How a request presents a session: by a cookie, or by a header with a proof of the session's key. */
export type SessionKind = 'cookie' | 'bound';

/** A session that renews no other. */
export interface NewSession extends WebSession {
  readonly signedBy: readonly IssuerKey[];
  readonly externalLogin: ExternalLogin;
}

interface SessionRow extends Omit<WebSession, 'signedBy' | 'externalLogin'> {
  readonly signedBy: unknown;
  readonly loginSubject: string | null;
  readonly loginSession: string;
  readonly loginIssuedAt: number;
}

/** Inserts new sessions within a larger statement. */
export const sessionInsertion = {
  /** The columns of `rowOf`, as column definitions. */
  columns: sql`id_hash text, family_id uuid, created_at float8, expires_at float8, login_origin text, vouched_by jsonb,
      access_generation text, login_subject text, login_session text, login_issued_at float8, key_thumbprint text, used_at float8`,

  /** @returns the session's row, without its user, as an object for JSON */
  rowOf(session: NewSession): Record<string, unknown> {
    const [loginSubject, loginSession] = keysOfLogin(session.externalLogin);
    return {
      id_hash: session.idHash.toString('hex'),
      family_id: session.familyId,
      created_at: session.createdAt.getTime() / 1000,
      expires_at: session.expiresAt.getTime() / 1000,
      login_origin: session.loginOrigin,
      vouched_by: recordedKeys(session.signedBy),
      access_generation: session.accessGeneration,
      login_subject: loginSubject,
      login_session: loginSession,
      login_issued_at: session.externalLogin.iat,
      key_thumbprint: session.keyThumbprint,
      used_at: session.usedAt.getTime() / 1000,
    };
  },

  /** @param relation has `columns`, and the user's id as `subject_user_id` */
  insertionFrom<Input>(relation: Sql<Input>): Sql<Input> {
    return sql`INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at, login_origin, vouched_by,
      access_generation, login_subject, login_session, login_issued_at, key_thumbprint, used_at)
    SELECT decode(id_hash, 'hex'), subject_user_id, family_id, to_timestamp(created_at), to_timestamp(expires_at), login_origin,
      vouched_by, access_generation, login_subject, login_session, login_issued_at, key_thumbprint, to_timestamp(used_at)
    FROM ${relation}`;
  },
};

/** A deleted session, for its event. */
export type DeletedSession = Pick<WebSession, 'userId' | 'familyId' | 'expiresAt'>;

@Injectable()
export class SessionRepository {
  constructor(private readonly database: Database) {}

  async insert(transaction: Transaction, session: WebSession): Promise<void> {
    const { idHash, userId, familyId, createdAt, expiresAt, loginOrigin, signedBy, accessGeneration } =
      session;
    const keys = signedBy === null ? null : JSON.stringify(recordedKeys(signedBy));
    const { externalLogin: login } = session;
    const ofLogin = login === null ? [null, null, null] : [...keysOfLogin(login), login.iat];
    const columns = [
      ...[idHash, userId, familyId, createdAt, expiresAt, loginOrigin, keys, accessGeneration],
      ...[...ofLogin, session.keyThumbprint, session.usedAt],
    ];
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at, login_origin, vouched_by, access_generation,
         login_subject, login_session, login_issued_at, key_thumbprint, used_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      columns,
    );
  }

  /** Extends a bound session by a login. The transaction has locked its row. */
  async extend(transaction: Transaction, session: NewSession): Promise<void> {
    const {
      idHash,
      createdAt,
      usedAt,
      expiresAt,
      signedBy,
      accessGeneration,
      externalLogin: login,
    } = session;
    const keys = JSON.stringify(recordedKeys(signedBy));
    await managerOf(transaction).query(
      `UPDATE token_exchange_session SET created_at = $2, used_at = $3, expires_at = $4, vouched_by = $5, access_generation = $6,
         login_subject = $7, login_session = $8, login_issued_at = $9 WHERE id_hash = $1`,
      [idHash, createdAt, usedAt, expiresAt, keys, accessGeneration, ...keysOfLogin(login), login.iat],
    );
  }

  async noteUse(idHash: Buffer, usedAt: Date): Promise<void> {
    await this.database.background.query(
      'UPDATE token_exchange_session SET used_at = $2 WHERE id_hash = $1 AND used_at < $2',
      [idHash, usedAt],
    );
  }

  /** Users with more live sessions than the limit. */
  async findOverLimit(most: number, now: Date): Promise<string[]> {
    const rows = await this.database.background.query<{ userId: string }>(
      `SELECT user_id::text AS "userId" FROM token_exchange_session WHERE expires_at > $1 GROUP BY user_id HAVING count(*) > $2`,
      [now, most],
    );
    return rows.map(({ userId }) => userId);
  }

  /**
   * Deletes the least recently used live sessions of users down to the limit. All sessions of a family have the family's latest
   * use, so a renewed session is not deleted during its grace period. The statement skips rows that another transaction has locked.
   */
  deleteLeastUsed(
    transaction: Transaction,
    userIds: readonly string[],
    left: number,
    now: Date,
  ): Promise<DeletedSession[]> {
    return managerOf(transaction).query<DeletedSession[]>(
      `WITH live AS (
         SELECT id_hash, user_id, created_at, max(used_at) OVER (PARTITION BY family_id) AS family_used_at
         FROM token_exchange_session WHERE user_id = ANY ($1) AND expires_at > $2
       ), ranked AS (
         SELECT id_hash, row_number() OVER (PARTITION BY user_id ORDER BY family_used_at DESC, created_at DESC, id_hash) AS place
         FROM live
       ), free AS MATERIALIZED (
         SELECT id_hash FROM token_exchange_session
         WHERE id_hash IN (SELECT id_hash FROM ranked WHERE place > $3) FOR UPDATE SKIP LOCKED
       ), deleted AS (
         DELETE FROM token_exchange_session WHERE id_hash IN (SELECT id_hash FROM free)
         RETURNING user_id, family_id, expires_at
       ) SELECT user_id::text AS "userId", family_id AS "familyId", expires_at AS "expiresAt" FROM deleted`,
      [userIds, now, left],
    );
  }

  /**
   * Finds the given sessions that end after a moment, latest first.
   * @param kind a bound session is never found as a cookie's session, and vice versa
   * @param transaction locks the row of a bound session
   */
  async findLive(
    kind: SessionKind,
    idHashes: readonly Buffer[],
    moment: Date,
    transaction?: Transaction,
  ): Promise<WebSession[]> {
    if (idHashes.length === 0) return [];
    const connection = transaction === undefined ? this.database.dataSource : managerOf(transaction);
    const lock = kind === 'bound' && transaction !== undefined ? 'FOR UPDATE' : '';
    const rows = await connection.query<SessionRow[]>(
      `SELECT id_hash AS "idHash", user_id::text AS "userId", family_id AS "familyId", created_at AS "createdAt",
         expires_at AS "expiresAt", login_origin AS "loginOrigin", vouched_by AS "signedBy",
         access_generation AS "accessGeneration", login_subject AS "loginSubject", login_session AS "loginSession",
         login_issued_at AS "loginIssuedAt", key_thumbprint AS "keyThumbprint", used_at AS "usedAt"
       FROM token_exchange_session WHERE id_hash = ANY ($1) AND expires_at > $2 AND (key_thumbprint IS NOT NULL) = $3
       ORDER BY created_at DESC ${lock}`,
      [idHashes, moment, kind === 'bound'],
    );
    return rows.map(sessionOf);
  }

  /**
   * Ends sessions at a moment, unless they end earlier. Their rows stay locked until the transaction ends, so that
   * `deleteFamilies` waits.
   * @returns whether one of them still existed
   */
  async endBy(transaction: Transaction, idHashes: readonly Buffer[], end: Date): Promise<boolean> {
    const shortened = await managerOf(transaction).query<object[]>(
      `WITH shortened AS (
         UPDATE token_exchange_session SET expires_at = least(expires_at, $2) WHERE id_hash = ANY ($1) RETURNING 1
       ) SELECT 1 FROM shortened`,
      [idHashes, end],
    );
    return shortened.length > 0;
  }

  /**
   * Deletes whole families, even during renewals. A renewal locks the row of its predecessor. The statement waits for the lock, but
   * does not see the new session, so it is repeated until it finds no session. Then no renewal can be in progress or follow,
   * because each needs a predecessor.
   */
  async deleteFamilies(transaction: Transaction, familyIds: readonly string[]): Promise<DeletedSession[]> {
    const deleted: DeletedSession[] = [];
    for (let seen = -1; seen < deleted.length;) {
      seen = deleted.length;
      deleted.push(
        ...(await managerOf(transaction).query<DeletedSession[]>(
          `WITH deleted AS (DELETE FROM token_exchange_session WHERE family_id = ANY ($1) RETURNING user_id, family_id, expires_at)
           SELECT user_id::text AS "userId", family_id AS "familyId", expires_at AS "expiresAt" FROM deleted`,
          [familyIds],
        )),
      );
    }
    return deleted;
  }

  /** Makes the live sessions of a logout expire now. Their rows stay for a while, so that responses can tell the reason. */
  endLogins(
    transaction: Transaction,
    { keys, until, at }: Omit<Logout, 'issuer'>,
    now: Date,
  ): Promise<DeletedSession[]> {
    return managerOf(transaction).query<DeletedSession[]>(
      `WITH ended AS MATERIALIZED (
         SELECT id_hash, user_id, family_id, expires_at FROM token_exchange_session
         WHERE (login_subject = ANY ($1) OR login_session = ANY ($1)) AND expires_at > $2
           AND (login_issued_at <= $3 OR created_at <= $4) FOR UPDATE
       ), shortened AS (
         UPDATE token_exchange_session SET expires_at = $2 WHERE id_hash IN (SELECT id_hash FROM ended)
       ) SELECT user_id::text AS "userId", family_id AS "familyId", expires_at AS "expiresAt" FROM ended`,
      [keys, now, until, at],
    );
  }

  /** The families of the bound sessions that pages of a host origin opened for a user. */
  async findBoundFamilies(transaction: Transaction, userId: string, loginOrigin: string): Promise<string[]> {
    const rows = await managerOf(transaction).query<{ familyId: string }[]>(
      `SELECT family_id AS "familyId" FROM token_exchange_session
       WHERE user_id = $1 AND login_origin = $2 AND key_thumbprint IS NOT NULL`,
      [userId, loginOrigin],
    );
    return rows.map(({ familyId }) => familyId);
  }

  /**
   * Deletes all sessions of a user. It misses a session that is being opened. The user's `access_generation` ends that one.
   * @returns the number of deleted live sessions
   */
  async deleteOfUser(transaction: Transaction, userId: string): Promise<number> {
    const [row] = await managerOf(transaction).query<{ live: number }[]>(
      `WITH deleted AS (DELETE FROM token_exchange_session WHERE user_id = $1 RETURNING expires_at)
       SELECT count(*)::int AS live FROM deleted WHERE expires_at > now()`,
      [userId],
    );
    return row?.live ?? 0;
  }
}

function sessionOf(found: SessionRow): WebSession {
  const { loginSubject, loginSession, loginIssuedAt, signedBy: keys, ...row } = found;
  // The second key is the provider session's, or says that there is none. A logout finds the session by either.
  const login = { sub: loginSubject ?? '', sid: loginSession, iat: loginIssuedAt };
  const externalLogin = loginSubject === null ? null : login;
  return { signedBy: readRecordedKeys(keys) ?? null, externalLogin, ...row };
}
