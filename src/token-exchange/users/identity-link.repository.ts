// Remembers which external identity is which local user.
import { Injectable } from '@nestjs/common';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import { parameter, sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { ExternalIdentity } from '../host/users.js';

const ISSUER = parameter('text', ({ issuer }: ExternalIdentity) => issuer);
const SUBJECT = parameter('text', ({ subject }: ExternalIdentity) => subject);

const FIND = new PreparedStatement<ExternalIdentity, { userId: string }>(
  'identity_link_find',
  sql`SELECT user_id::text AS "userId" FROM token_exchange_identity_link WHERE issuer = ${ISSUER} AND subject = ${SUBJECT}`,
);

/** The column says of which type the id of a user is. */
const INSERT = new PreparedStatement<ExternalIdentity & { userId: string }, unknown>(
  'identity_link_insert',
  sql`INSERT INTO token_exchange_identity_link (issuer, subject, user_id)
   SELECT issuer, subject, user_id FROM json_populate_record(NULL::token_exchange_identity_link, ${parameter(
     'json',
     ({ issuer, subject, userId }) => JSON.stringify({ issuer, subject, user_id: userId }),
   )})
   ON CONFLICT (issuer, subject) DO NOTHING RETURNING 1`,
);

/** @rule D1 A known identity is the pair of issuer and sub, never sub alone: that is the primary key. */
@Injectable()
export class IdentityLinkRepository {
  /** The id of the user that an identity is linked to. */
  async findUserId(transaction: Transaction, identity: ExternalIdentity): Promise<string | undefined> {
    const [link] = await FIND.runIn(transaction, identity);
    return link?.userId;
  }

  /** Links an identity. @returns false if it is linked already, which the primary key decides */
  async insert(transaction: Transaction, identity: ExternalIdentity, userId: string): Promise<boolean> {
    const rows = await INSERT.runIn(transaction, { ...identity, userId });
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
