// The rest of a user beside the account's row: linked identities, sessions, sign-ins and origin.
import { Inject, Injectable } from '@nestjs/common';
import { SIGN_IN_EVENTS } from '../../audit/instance-events.js';
import { OPERATOR_DATABASE, StatementPool } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';

/** JSON throughout; times are ISO 8601. */
export interface UserProfile {
  /** The oldest first, a hundred at most. */
  readonly links: readonly LinkedIdentity[];
  /** How many embedded sessions are live. */
  readonly sessions: number;
  /** The latest first, a few. */
  readonly signIns: readonly SignIn[];
  readonly hasPassword: boolean;
  /** Whether a token provisioned the user. */
  readonly provisioned: boolean;
  /** A hundred at most. */
  readonly projects: readonly Membership[];
}

export interface Membership {
  readonly projectId: string;
  readonly name: string;
  readonly role: string;
  /** The issuer whose claim gives it; null: given by hand. */
  readonly issuer: string | null;
  readonly externalKeys: readonly { readonly issuer: string; readonly key: string }[];
}

interface LinkedIdentity {
  readonly issuer: string;
  /** The `sub` of its tokens. */
  readonly subject: string;
  readonly linkedAt: string;
}

/** A token exchange or an embedded login that succeeded. */
interface SignIn {
  readonly event: string;
  readonly occurredAt: string;
  readonly requestId: string;
  readonly issuer: string | null;
}

/** So many of a user's last events are looked at for sign-ins. */
const DEPTH = 1_000;
/** The same for each user of a list. */
const DEPTH_IN_LIST = 100;
const MOST_SIGN_INS = 5;

const ISO = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const FIND = `SELECT
    (SELECT coalesce(json_agg(link), '[]') FROM (
      SELECT issuer, subject, ${ISO('created_at')} AS "linkedAt" FROM token_exchange_identity_link
      WHERE user_id = u.id ORDER BY created_at, issuer LIMIT 100
    ) link) AS links,
    (SELECT count(DISTINCT s.family_id)::int FROM token_exchange_session s
      WHERE s.user_id = u.id AND s.expires_at > $2 AND s.access_generation = u.access_generation::text) AS sessions,
    (SELECT coalesce(json_agg(success), '[]') FROM (
      SELECT name AS event, ${ISO('occurred_at')} AS "occurredAt", request_id AS "requestId", payload->>'issuer' AS issuer
      FROM (SELECT * FROM audit_event WHERE subject_user_id = u.id ORDER BY id DESC LIMIT ${DEPTH}) last
      WHERE name = ANY ($3) ORDER BY id DESC LIMIT ${MOST_SIGN_INS}
    ) success) AS "signIns",
    EXISTS (SELECT 1 FROM operator_password WHERE user_id = u.id AND password_hash IS NOT NULL) AS "hasPassword",
    EXISTS (SELECT 1 FROM token_exchange_identity_link l WHERE l.user_id = u.id AND l.created_at = u.created_at) AS provisioned,
    (SELECT coalesce(json_agg(membership), '[]') FROM (
      SELECT project.id AS "projectId", project.name, member.role, member.issuer, coalesce((
        SELECT json_agg(json_build_object('issuer', external.issuer, 'key', external.key) ORDER BY external.issuer)
        FROM project_external_key external WHERE external.project_id = project.id
      ), '[]') AS "externalKeys"
      FROM project_member member JOIN project ON project.id = member.project_id
      WHERE member.user_id = u.id ORDER BY project.name, project.id LIMIT 100
    ) membership) AS projects
  FROM user_account u WHERE u.id = $1`;

@Injectable()
export class UserProfileRepository {
  constructor(@Inject(OPERATOR_DATABASE) private readonly database: StatementPool) {}

  async find(userId: string, now: Date): Promise<UserProfile | undefined> {
    const [profile] = await this.database.query<UserProfile>(FIND, [userId, now, SIGN_IN_EVENTS]);
    return profile;
  }

  /** By which issuers name a user, a hundred at most. */
  async subjectsOf(userId: string): Promise<string[]> {
    const links = await this.database.query<{ subject: string }>(
      'SELECT subject FROM token_exchange_identity_link WHERE user_id = $1 LIMIT 100',
      [userId],
    );
    return links.map(({ subject }) => subject);
  }

  /** The id of the user whom issuers name by a `sub`; undefined where none does, or they name different users. */
  async findBySubject(subject: string, issuers: readonly string[]): Promise<string | undefined> {
    const [user, ...others] = await this.database.query<{ id: string }>(
      `SELECT DISTINCT user_id::text AS id FROM token_exchange_identity_link WHERE subject = $1 AND issuer = ANY ($2) LIMIT 2`,
      [subject, issuers],
    );
    return others.length === 0 ? user?.id : undefined;
  }

  /** When each of some users signed in last, as far as their last hundred events say; ISO 8601. */
  async lastSignIns(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<{ id: string; at: string }>(
      `SELECT asked.id::text AS id, ${ISO('found.occurred_at')} AS at FROM unnest($1::uuid[]) AS asked (id) CROSS JOIN LATERAL (
         SELECT occurred_at FROM (
           SELECT * FROM audit_event WHERE subject_user_id = asked.id ORDER BY id DESC LIMIT ${DEPTH_IN_LIST}
         ) last WHERE name = ANY ($2) ORDER BY id DESC LIMIT 1
       ) found`,
      [userIds, SIGN_IN_EVENTS],
    );
    return new Map(rows.map(({ id, at }) => [id, at]));
  }

  async count(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM user_account',
    );
    return row?.count ?? 0;
  }

  /**
   * Unlinks identities of an issuer from a user; the one by which a token has made the user stays, since it keeps the user from
   * having a password (D108).
   * @param subject only this one
   * @returns how many were unlinked, and how many are left of those
   */
  async unlink(
    transaction: Transaction,
    userId: string,
    { issuer, subject }: { readonly issuer: string; readonly subject?: string },
  ): Promise<{ unlinked: number; left: number }> {
    const [counts] = await managerOf(transaction).query<{ unlinked: number; all: number }[]>(
      `WITH chosen AS (
         SELECT l.issuer, l.subject, l.created_at = u.created_at AS made FROM token_exchange_identity_link l
         JOIN user_account u ON u.id = l.user_id WHERE l.user_id = $1 AND l.issuer = $2 AND ($3::text IS NULL OR l.subject = $3)
       ), unlinked AS (
         DELETE FROM token_exchange_identity_link l USING chosen c
         WHERE l.issuer = c.issuer AND l.subject = c.subject AND NOT c.made RETURNING 1
       ) SELECT (SELECT count(*)::int FROM unlinked) AS unlinked, (SELECT count(*)::int FROM chosen) AS "all"`,
      [userId, issuer, subject ?? null],
    );
    const { unlinked = 0, all = 0 } = counts ?? {};
    return { unlinked, left: all - unlinked };
  }
}
