// Remembers which external identity is which local user.
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import { Batch } from '../../database/batch.js';
import { runPrepared } from '../../database/prepared-statement.js';
import type { Transaction } from '../../database/transaction.js';
import { managerOf } from '../../database/transaction.js';

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

/** An external identity. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** Each by its key, in the order of asking; null for an identity that is not linked. */
const FIND = {
  name: 'identity_link_find',
  text: `SELECT found.user_id AS "userId"
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (issuer, subject, place) LEFT JOIN LATERAL (
      SELECT user_id FROM identity_link link
      WHERE link.issuer = asked.issuer AND link.subject = asked.subject LIMIT 1
    ) found ON true ORDER BY asked.place`,
};

@Injectable()
export class IdentityLinkRepository {
  private readonly finds = new Batch((identities: readonly ExternalIdentity[]) => this.findAll(identities));

  constructor(@InjectRepository(IdentityLink) private readonly links: Repository<IdentityLink>) {}

  /** The id of the user that an identity is linked to. */
  async findUserId(identity: ExternalIdentity, transaction?: Transaction): Promise<string | undefined> {
    if (transaction === undefined) return this.finds.add(identity);
    const { issuer, subject } = identity;
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

  private async findAll(identities: readonly ExternalIdentity[]): Promise<(string | undefined)[]> {
    const values = [identities.map(({ issuer }) => issuer), identities.map(({ subject }) => subject)];
    const rows = await runPrepared<{ userId: string | null }>(this.links.manager.dataSource, FIND, values);
    return rows.map(({ userId }) => userId ?? undefined);
  }
}
