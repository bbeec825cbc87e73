// Lists the live embedded sessions with their users.
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../../platform/database/database.js';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import type { IssuerKey } from '../../token-exchange/instance.js';
import { readRecordedKeys } from '../../token-exchange/instance.js';
import { normalizeEmail } from '../../users/user.repository.js';

export interface EmbeddedSession {
  /** The id of its family. */
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly loginOrigin: string | null;
  readonly openedAt: Date;
  readonly expiresAt: Date;
  /** Undefined if they were not recorded. */
  readonly signedBy: readonly IssuerKey[] | undefined;
}

export interface SessionQuery {
  readonly userId?: string;
  /** The beginning of an e-mail address. */
  readonly email?: string;
  readonly issuer?: string;
  /** Only later rows in this order are returned. */
  readonly after?: Pick<EmbeddedSession, 'id' | 'expiresAt'>;
  readonly limit: number;
}

@Injectable()
export class EmbeddedSessionRepository {
  constructor(@Inject(OPERATOR_DATABASE) private readonly database: StatementPool) {}

  /**
   * A page of the live sessions, newest first: the newest expires last, and the expiry has an index. A family
   * has several rows for half a minute after a renewal; only the latest is used.
   */
  async list({ userId, email, issuer, after, limit }: SessionQuery): Promise<EmbeddedSession[]> {
    const rows = await this.database.query<EmbeddedSession & { signedBy: unknown }>(
      `SELECT s.family_id::text AS id, s.user_id::text AS "userId", u.email, s.login_origin AS "loginOrigin",
         s.created_at AS "openedAt", s.expires_at AS "expiresAt", s.vouched_by AS "signedBy"
       FROM token_exchange_session s JOIN user_account u ON u.id = s.user_id
       WHERE s.expires_at > now() AND s.access_generation = u.access_generation::text
         AND ($1::uuid IS NULL OR s.user_id = $1) AND ($2::text IS NULL OR starts_with(u.normalized_email, $2))
         AND ($3::jsonb IS NULL OR s.vouched_by @> $3)
         AND ($4::timestamptz IS NULL OR (s.expires_at, s.family_id) < ($4, $5::uuid))
         AND NOT EXISTS (SELECT 1 FROM token_exchange_session later WHERE later.family_id = s.family_id
           AND (later.expires_at, later.id_hash) > (s.expires_at, s.id_hash))
       ORDER BY s.expires_at DESC, s.family_id DESC LIMIT $6`,
      [
        ...[userId ?? null, email === undefined ? null : normalizeEmail(email)],
        issuer === undefined ? null : JSON.stringify([{ iss: issuer }]),
        ...[after?.expiresAt ?? null, after?.id ?? null, limit],
      ],
    );
    return rows.map((row) => ({ ...row, signedBy: readRecordedKeys(row.signedBy) }));
  }
}
