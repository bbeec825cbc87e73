// Remembers which external identity is which local user.
import { Injectable } from '@nestjs/common';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import { parameter, sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf, runIn } from '../../platform/database/transaction.js';
import type { ExternalIdentity } from '../host/users.js';
import type { Voucher } from './privilege.js';

/** A row of the table, but for its identity. */
export interface IdentityLink extends Voucher {
  readonly userId: string;
  /** Of the claim of projects that was last synced; null: there was none, or its memberships were changed since. */
  readonly projectsDigest: string | null;
  readonly byAdministrator: boolean;
}

const FIND = new PreparedStatement<ExternalIdentity, IdentityLink>(
  'identity_link_find',
  sql`SELECT user_id::text AS "userId", projects_digest AS "projectsDigest", by_administrator AS "byAdministrator"
   FROM token_exchange_identity_link
   WHERE issuer = ${parameter('text', ({ issuer }) => issuer)} AND subject = ${parameter('text', ({ subject }) => subject)}`,
);

/** The column says of which type the id of a user is. */
const INSERT = new PreparedStatement<ExternalIdentity & Omit<IdentityLink, 'projectsDigest'>, unknown>(
  'identity_link_insert',
  sql`INSERT INTO token_exchange_identity_link (issuer, subject, user_id, by_administrator)
   SELECT issuer, subject, user_id, by_administrator FROM json_populate_record(NULL::token_exchange_identity_link, ${parameter(
     'json',
     ({ issuer, subject, userId, byAdministrator }) =>
       JSON.stringify({ issuer, subject, user_id: userId, by_administrator: byAdministrator }),
   )})
   ON CONFLICT (issuer, subject) DO NOTHING RETURNING 1`,
);

/** @rule D1 A known identity is the pair of issuer and sub, never sub alone: that is the primary key. */
@Injectable()
export class IdentityLinkRepository {
  async find(transaction: Transaction, identity: ExternalIdentity): Promise<IdentityLink | undefined> {
    return (await runIn(transaction, FIND, identity))[0];
  }

  /** Links an identity. @returns false if it is linked already, which the primary key decides */
  async insert(
    transaction: Transaction,
    identity: ExternalIdentity,
    link: Omit<IdentityLink, 'projectsDigest'>,
  ): Promise<boolean> {
    const rows = await runIn(transaction, INSERT, { ...identity, ...link });
    return rows.length === 1;
  }

  /** Keeps a link from being deleted until the transaction ends. @returns undefined where it is no longer there */
  async lock(
    transaction: Transaction,
    identity: ExternalIdentity,
    userId: string,
  ): Promise<Omit<IdentityLink, 'userId'> | undefined> {
    const [link] = await managerOf(transaction).query<Omit<IdentityLink, 'userId'>[]>(
      `SELECT projects_digest AS "projectsDigest", by_administrator AS "byAdministrator" FROM token_exchange_identity_link
       WHERE issuer = $1 AND subject = $2 AND user_id = $3 FOR KEY SHARE`,
      [identity.issuer, identity.subject, userId],
    );
    return link;
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
