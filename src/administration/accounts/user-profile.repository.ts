// Further data of a user: linked identities, sessions, sign-ins and origin.
import { Inject, Injectable } from '@nestjs/common';
import { SIGN_IN_EVENTS } from '../../audit/instance-events.js';
import { OPERATOR_DATABASE, StatementPool } from '../../platform/database/database.js';

/** Consists of JSON values; times are ISO 8601. */
export interface UserProfile {
  /** Oldest first, at most a hundred. */
  readonly links: readonly LinkedIdentity[];
  readonly sessions: number;
  /** The latest few, newest first. */
  readonly signIns: readonly SignIn[];
  readonly hasPassword: boolean;
  readonly provisioned: boolean;
  /** At most a hundred. */
  readonly projects: readonly Membership[];
}

export interface Membership {
  readonly projectId: string;
  readonly name: string;
  readonly role: string;
  /** The issuer whose claim gives the membership; null if a user gave it. */
  readonly issuer: string | null;
  readonly externalKeys: readonly { readonly issuer: string; readonly key: string }[];
}

interface LinkedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly linkedAt: string;
}

/** A successful token exchange or embedded login. */
interface SignIn {
  readonly event: string;
  readonly occurredAt: string;
  readonly requestId: string;
  readonly issuer: string | null;
}

/** How many of a user's latest events are searched for sign-ins. */
const DEPTH = 1_000;
const MAX_SIGN_INS = 5;

const ISO = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const FIND = `SELECT
    (SELECT coalesce(json_agg(link), '[]') FROM (
      SELECT issuer, subject, ${ISO('created_at')} AS "linkedAt" FROM token_exchange_identity_link
      WHERE user_id = u.id ORDER BY created_at, issuer LIMIT 100
    ) link) AS links,
    (SELECT count(DISTINCT s.family_id)::int FROM token_exchange_session s
      WHERE s.user_id = u.id AND s.expires_at > now() AND s.access_generation = u.access_generation::text) AS sessions,
    (SELECT coalesce(json_agg(success), '[]') FROM (
      SELECT name AS event, ${ISO('occurred_at')} AS "occurredAt", request_id AS "requestId", payload->>'issuer' AS issuer
      FROM (SELECT * FROM audit_event WHERE subject_user_id = u.id ORDER BY id DESC LIMIT ${DEPTH}) last
      WHERE name = ANY ($2) ORDER BY id DESC LIMIT ${MAX_SIGN_INS}
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

  async find(userId: string): Promise<UserProfile | undefined> {
    const [profile] = await this.database.query<UserProfile>(FIND, [userId, SIGN_IN_EVENTS]);
    return profile;
  }

  async count(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM user_account',
    );
    return row?.count ?? 0;
  }

  /** A user's subjects at all issuers, at most a hundred. */
  async subjectsOf(userId: string): Promise<string[]> {
    const links = await this.database.query<{ subject: string }>(
      'SELECT subject FROM token_exchange_identity_link WHERE user_id = $1 LIMIT 100',
      [userId],
    );
    return links.map(({ subject }) => subject);
  }

  /** The id of the user to whom issuers have linked a `sub`; undefined if there is none, or more than one. */
  async findBySubject(subject: string, issuers: readonly string[]): Promise<string | undefined> {
    const [user, ...others] = await this.database.query<{ id: string }>(
      `SELECT DISTINCT user_id::text AS id FROM token_exchange_identity_link WHERE subject = $1 AND issuer = ANY ($2) LIMIT 2`,
      [subject, issuers],
    );
    return others.length === 0 ? user?.id : undefined;
  }
}
