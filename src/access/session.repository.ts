// Browser sessions: the entity and all its queries.
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, In, LessThan, MoreThan, PrimaryColumn, Repository } from 'typeorm';
import type { Transaction } from '../database/transaction.js';
import { managerOf } from '../database/transaction.js';

/** A session. Only the hash of its id is stored: who reads the table cannot use a session. */
@Entity('web_session')
export class WebSession {
  @PrimaryColumn('bytea', { name: 'id_hash' })
  idHash!: Buffer;

  @Column('uuid', { name: 'user_id' })
  userId!: string;

  /** What it shares with the sessions that it was renewed from, and with those that are renewed from it. */
  @Column('uuid', { name: 'family_id' })
  familyId!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** The origin of the page that posted the login; null when it named none. */
  @Column('text', { name: 'login_origin', nullable: true })
  loginOrigin!: string | null;
}

/** What is told of a session that was deleted. */
export type DeletedSession = Pick<WebSession, 'userId' | 'expiresAt'>;

@Injectable()
export class SessionRepository {
  constructor(@InjectRepository(WebSession) private readonly sessions: Repository<WebSession>) {}

  async insert(transaction: Transaction, session: WebSession): Promise<void> {
    await managerOf(transaction).insert(WebSession, session);
  }

  /** Those of some sessions that last beyond a moment, the latest first. */
  async findLive(
    idHashes: readonly Buffer[],
    moment: Date,
    transaction?: Transaction,
  ): Promise<WebSession[]> {
    if (idHashes.length === 0) return [];
    const sessions =
      transaction === undefined ? this.sessions : managerOf(transaction).getRepository(WebSession);
    const where = { idHash: In([...idHashes]), expiresAt: MoreThan(moment) };
    return sessions.find({ where, order: { createdAt: 'DESC' } });
  }

  /**
   * Lets sessions end at a moment, or before it where they would have. Their rows stay locked until the transaction ends,
   * so that `deleteFamilies` waits for it.
   * @returns whether one of them was still there
   */
  async endBy(transaction: Transaction, idHashes: readonly Buffer[], end: Date): Promise<boolean> {
    const shortened = await managerOf(transaction).query<object[]>(
      `WITH shortened AS (
         UPDATE web_session SET expires_at = least(expires_at, $2) WHERE id_hash = ANY ($1) RETURNING 1
       ) SELECT 1 FROM shortened`,
      [idHashes, end],
    );
    return shortened.length > 0;
  }

  /**
   * Deletes whole families, whatever is being renewed in them. A renewal holds the row of its predecessor: the statement
   * waits for it, and does not see yet what it opens. So it is repeated until there is nothing left to be seen. No
   * renewal is under way then, since its predecessor would be seen, and none can follow, since its predecessor is gone.
   */
  async deleteFamilies(transaction: Transaction, familyIds: readonly string[]): Promise<DeletedSession[]> {
    const deleted: DeletedSession[] = [];
    for (let seen = -1; seen < deleted.length;) {
      seen = deleted.length;
      deleted.push(...(await this.deleteSeen(transaction, familyIds)));
    }
    return deleted;
  }

  /** Deletes sessions that ended before a moment. */
  async purge(endedBefore: Date): Promise<void> {
    await this.sessions.delete({ expiresAt: LessThan(endedBefore) });
  }

  private deleteSeen(transaction: Transaction, familyIds: readonly string[]): Promise<DeletedSession[]> {
    return managerOf(transaction).query<DeletedSession[]>(
      `WITH deleted AS (DELETE FROM web_session WHERE family_id = ANY ($1) RETURNING user_id, expires_at)
       SELECT user_id AS "userId", expires_at AS "expiresAt" FROM deleted`,
      [familyIds],
    );
  }
}
