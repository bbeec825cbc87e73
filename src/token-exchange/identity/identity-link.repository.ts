// Remembers which external identity is which local user.
import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Transaction } from '../../database/transaction.js';
import { managerOf } from '../../database/transaction.js';
import type { ExternalIdentity } from '../host.js';

/**
 * A link from an external identity to a local user.
 * @rule D1 A known identity is the pair of issuer and sub, never sub alone.
 */
@Entity('identity_link')
export class IdentityLink {
  @PrimaryColumn('text')
  issuer!: string;

  @PrimaryColumn('varchar', { length: 255 })
  subject!: string;

  @Column('uuid', { name: 'user_id' })
  userId!: string;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}

@Injectable()
export class IdentityLinkRepository {
  /** The id of the user that an identity is linked to. */
  async findUserId(
    transaction: Transaction,
    { issuer, subject }: ExternalIdentity,
  ): Promise<string | undefined> {
    const link = await managerOf(transaction).findOneBy(IdentityLink, { issuer, subject });
    return link?.userId;
  }

  /** Links an identity; false when somebody else has linked it by now, which the primary key decides. */
  async insert(
    transaction: Transaction,
    { issuer, subject }: ExternalIdentity,
    userId: string,
  ): Promise<boolean> {
    const rows = await managerOf(transaction).query<unknown[]>(
      `INSERT INTO identity_link (issuer, subject, user_id) VALUES ($1, $2, $3)
       ON CONFLICT (issuer, subject) DO NOTHING RETURNING user_id`,
      [issuer, subject, userId],
    );
    return rows.length === 1;
  }
}
