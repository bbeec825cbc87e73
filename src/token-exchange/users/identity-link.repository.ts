// Remembers which external identity is which local user.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { ExternalIdentity } from '../host/users.js';

/** @rule D1 A known identity is the pair of issuer and sub, never sub alone: that is the primary key. */
@Injectable()
export class IdentityLinkRepository {
  /** The id of the user that an identity is linked to. */
  async findUserId(transaction: Transaction, identity: ExternalIdentity): Promise<string | undefined> {
    const [link] = await managerOf(transaction).query<{ userId: string }[]>(
      'SELECT user_id::text AS "userId" FROM token_exchange_identity_link WHERE issuer = $1 AND subject = $2',
      [identity.issuer, identity.subject],
    );
    return link?.userId;
  }

  /** Links an identity. @returns false if it is linked already, which the primary key decides */
  async insert(transaction: Transaction, identity: ExternalIdentity, userId: string): Promise<boolean> {
    const rows = await managerOf(transaction).query<unknown[]>(
      `INSERT INTO token_exchange_identity_link (issuer, subject, user_id) VALUES ($1, $2, $3)
       ON CONFLICT (issuer, subject) DO NOTHING RETURNING user_id`,
      [identity.issuer, identity.subject, userId],
    );
    return rows.length === 1;
  }

  /** Keeps a link from being deleted until the transaction ends. @returns whether it is still there */
  async lock(transaction: Transaction, identity: ExternalIdentity, userId: string): Promise<boolean> {
    const rows = await managerOf(transaction).query<unknown[]>(
      `SELECT 1 FROM token_exchange_identity_link WHERE issuer = $1 AND subject = $2 AND user_id = $3 FOR KEY SHARE`,
      [identity.issuer, identity.subject, userId],
    );
    return rows.length === 1;
  }

  /** The digest of the last synced claim of projects; null or undefined without one. */
  async findProjectsDigest(
    transaction: Transaction,
    identity: ExternalIdentity,
  ): Promise<string | null | undefined> {
    const [link] = await managerOf(transaction).query<{ digest: string | null }[]>(
      'SELECT projects_digest AS digest FROM token_exchange_identity_link WHERE issuer = $1 AND subject = $2',
      [identity.issuer, identity.subject],
    );
    return link?.digest;
  }

  async setProjectsDigest(
    transaction: Transaction,
    identity: ExternalIdentity,
    digest: string | undefined,
  ): Promise<void> {
    await managerOf(transaction).query(
      'UPDATE token_exchange_identity_link SET projects_digest = $3 WHERE issuer = $1 AND subject = $2',
      [identity.issuer, identity.subject, digest ?? null],
    );
  }

  /** Forgets the link of an identity to a user whom the host has deleted: no foreign key reaches the host's table. */
  async forget(transaction: Transaction, identity: ExternalIdentity, userId: string): Promise<void> {
    await managerOf(transaction).query(
      'DELETE FROM token_exchange_identity_link WHERE issuer = $1 AND subject = $2 AND user_id = $3',
      [identity.issuer, identity.subject, userId],
    );
  }
}
