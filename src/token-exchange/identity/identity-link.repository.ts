// Stores the links from external identities to local users.
import { Injectable } from '@nestjs/common';
import { parameter, PreparedStatement, sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf, runIn } from '../../platform/database/transaction.js';
import type { ExternalIdentity } from '../host/users.js';
import type { Voucher } from './role-policy.js';

/** A row of the table without its identity. */
export interface IdentityLink extends Voucher {
  readonly userId: string;
  /** Digest of the last applied claim of projects; null: there was none, or memberships have changed since. */
  readonly projectsDigest: string | null;
  readonly byAdministrator: boolean;
}

const FIND = new PreparedStatement<ExternalIdentity, IdentityLink>(
  'identity_link_find',
  sql`SELECT user_id::text AS "userId", projects_digest AS "projectsDigest", by_administrator AS "byAdministrator"
   FROM token_exchange_identity_link
   WHERE issuer = ${parameter('text', ({ issuer }) => issuer)} AND subject = ${parameter('text', ({ subject }) => subject)}`,
);

/** What a link is made of. */
export interface NewIdentityLink extends Omit<IdentityLink, 'projectsDigest'> {
  /** Whether the user was made with the link. */
  readonly isProvisioned: boolean;
}

/** The type of a user's id is the column's. */
const INSERT = new PreparedStatement<ExternalIdentity & NewIdentityLink, unknown>(
  'identity_link_insert',
  sql`INSERT INTO token_exchange_identity_link (issuer, subject, user_id, by_administrator, is_provisioned)
   SELECT issuer, subject, user_id, by_administrator, is_provisioned FROM json_populate_record(NULL::token_exchange_identity_link, ${parameter(
     'json',
     ({
       issuer,
       subject,
       userId: user_id,
       byAdministrator: by_administrator,
       isProvisioned: is_provisioned,
     }) => JSON.stringify({ issuer, subject, user_id, by_administrator, is_provisioned }),
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
    link: NewIdentityLink,
  ): Promise<boolean> {
    const rows = await runIn(transaction, INSERT, { ...identity, ...link });
    return rows.length === 1;
  }

  /** The identities of an issuer that are linked to a user. */
  async subjectsOf(transaction: Transaction, issuer: string, userId: string): Promise<string[]> {
    const rows = await managerOf(transaction).query<{ subject: string }[]>(
      'SELECT subject FROM token_exchange_identity_link WHERE issuer = $1 AND user_id = $2 ORDER BY subject',
      [issuer, userId],
    );
    return rows.map(({ subject }) => subject);
  }

  /**
   * Notes that the issuer has disabled or enabled an account, unless it is known that it has done something later.
   * @param at in seconds since the Unix epoch
   * @returns whether that is news, and the account has made the user
   */
  async noteAccountEvent(
    transaction: Transaction,
    { issuer, subject }: ExternalIdentity,
    userId: string,
    { at, enabled }: { readonly at: number; readonly enabled: boolean },
  ): Promise<boolean> {
    const rows = await managerOf(transaction).query<{ isProvisioned: boolean }[]>(
      `WITH noted AS (
         UPDATE token_exchange_identity_link SET account_event_at = $4
         WHERE issuer = $1 AND subject = $2 AND user_id = $3
           AND (account_event_at IS NULL OR account_event_at < $4 OR (account_event_at = $4 AND NOT $5::boolean))
         RETURNING is_provisioned
       ) SELECT is_provisioned AS "isProvisioned" FROM noted`,
      [issuer, subject, userId, at, enabled],
    );
    return rows[0]?.isProvisioned === true;
  }

  /** Keeps a link from being deleted until the transaction ends. @returns undefined if it no longer exists */
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

  /** Makes the next token of each identity of an issuer apply its claim of projects again. */
  async forgetProjects(transaction: Transaction, issuer: string): Promise<void> {
    await managerOf(transaction).query(
      'UPDATE token_exchange_identity_link SET projects_digest = NULL WHERE issuer = $1 AND projects_digest IS NOT NULL',
      [issuer],
    );
  }

  /** Whether an identity was linked to the user at a time that the database has written. */
  async isLinkedAt(transaction: Transaction, userId: string, time: string): Promise<boolean> {
    const found = await managerOf(transaction).query<unknown[]>(
      'SELECT 1 FROM token_exchange_identity_link WHERE user_id = $1 AND created_at = $2 LIMIT 1',
      [userId, time],
    );
    return found.length > 0;
  }

  /** Whether identities of an issuer are linked to any user, and to one of the given users. */
  async linkedTo(
    transaction: Transaction,
    issuer: string,
    userIds: readonly string[],
  ): Promise<{ anyone: boolean; given: boolean }> {
    const [linked] = await managerOf(transaction).query<{ anyone: boolean; given: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM token_exchange_identity_link WHERE issuer = $1) AS anyone,
         EXISTS (SELECT 1 FROM token_exchange_identity_link WHERE issuer = $1 AND user_id = ANY ($2)) AS given`,
      [issuer, userIds],
    );
    return linked ?? { anyone: true, given: true };
  }

  /**
   * Unlinks identities of an issuer from a user.
   * @param subject only this one
   * @param keptTime links of this time stay; as written by the database
   * @returns how many were unlinked, and how many remain
   */
  async unlink(
    transaction: Transaction,
    userId: string,
    { issuer, subject }: { readonly issuer: string; readonly subject?: string },
    keptTime: string,
  ): Promise<{ unlinked: number; left: number }> {
    const [counts] = await managerOf(transaction).query<{ unlinked: number; all: number }[]>(
      `WITH chosen AS (
         SELECT issuer, subject, created_at = $4::timestamptz AS is_kept FROM token_exchange_identity_link
         WHERE user_id = $1 AND issuer = $2 AND ($3::text IS NULL OR subject = $3)
       ), unlinked AS (
         DELETE FROM token_exchange_identity_link l USING chosen c
         WHERE l.issuer = c.issuer AND l.subject = c.subject AND NOT c.is_kept RETURNING 1
       ) SELECT (SELECT count(*)::int FROM unlinked) AS unlinked, (SELECT count(*)::int FROM chosen) AS "all"`,
      [userId, issuer, subject ?? null, keptTime],
    );
    const { unlinked = 0, all = 0 } = counts ?? {};
    return { unlinked, left: all - unlinked };
  }

  /** Forgets the link of an identity to a user whom the host has deleted: no foreign key reaches the host's table. */
  async forget(transaction: Transaction, identity: ExternalIdentity, userId: string): Promise<void> {
    await managerOf(transaction).query(
      'DELETE FROM token_exchange_identity_link WHERE issuer = $1 AND subject = $2 AND user_id = $3',
      [identity.issuer, identity.subject, userId],
    );
  }
}
