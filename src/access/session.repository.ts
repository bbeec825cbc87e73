// Browser sessions: the entity and all its queries.
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, LessThan, PrimaryColumn, Repository } from 'typeorm';
import type { Transaction } from '../database/transaction.js';
import { managerOf } from '../database/transaction.js';

/** A session. Only the hash of its id is stored: who reads the table cannot use a session. */
@Entity('web_session')
export class WebSession {
  @PrimaryColumn('bytea', { name: 'id_hash' })
  idHash!: Buffer;

  @Column('uuid', { name: 'user_id' })
  userId!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** The origin of the page that posted the login; null when it named none. */
  @Column('text', { name: 'login_origin', nullable: true })
  loginOrigin!: string | null;
}

@Injectable()
export class SessionRepository {
  constructor(@InjectRepository(WebSession) private readonly sessions: Repository<WebSession>) {}

  async insert(transaction: Transaction, session: WebSession): Promise<void> {
    await managerOf(transaction).insert(WebSession, session);
  }

  async find(idHash: Buffer): Promise<WebSession | undefined> {
    return (await this.sessions.findOneBy({ idHash })) ?? undefined;
  }

  async delete(transaction: Transaction, idHash: Buffer): Promise<void> {
    await managerOf(transaction).delete(WebSession, { idHash });
  }

  /** Deletes sessions that ended before a moment. */
  async purge(endedBefore: Date): Promise<void> {
    await this.sessions.delete({ expiresAt: LessThan(endedBefore) });
  }
}
