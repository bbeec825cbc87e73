// Lists the embedded sessions that are live, with whose they are.
import { Inject, Injectable } from '@nestjs/common';
import { OPERATOR_DATABASE } from '../../platform/database/operator-database.js';
import { Database } from '../../platform/database/database.js';
import type { VouchingKey } from '../../token-exchange/advanced.js';
import { readRecordedKeys } from '../../token-exchange/advanced.js';

export interface EmbeddedSession {
  /** Its family's. */
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly loginOrigin: string | null;
  readonly openedAt: Date;
  readonly expiresAt: Date;
  /** Undefined where they were not recorded. */
  readonly vouchedBy: readonly VouchingKey[] | undefined;
}

/** A family has several rows for half a minute, while it is renewed. */
const ROWS_BESIDE = 50;

@Injectable()
export class EmbeddedSessionRepository {
  constructor(@Inject(OPERATOR_DATABASE) private readonly database: Database) {}

  /** A page in the order of their ids, the latest row of each family. */
  async list(
    now: Date,
    { userId, afterId, limit }: { userId?: string; afterId?: string; limit: number },
  ): Promise<EmbeddedSession[]> {
    const rows = await this.database.query<EmbeddedSession & { vouchedBy: unknown }>(
      `SELECT s.family_id::text AS id, s.user_id::text AS "userId", u.email, s.login_origin AS "loginOrigin",
         s.created_at AS "openedAt", s.expires_at AS "expiresAt", s.vouched_by AS "vouchedBy"
       FROM token_exchange_session s JOIN user_account u ON u.id = s.user_id
       WHERE s.expires_at > $1 AND s.access_generation = u.access_generation::text AND ($2::uuid IS NULL OR s.user_id = $2) AND ($3::uuid IS NULL OR s.family_id > $3)
       ORDER BY s.family_id LIMIT $4`,
      [now, userId ?? null, afterId ?? null, limit + ROWS_BESIDE],
    );
    const latest = new Map<string, EmbeddedSession>();
    for (const row of rows) {
      const session = { ...row, vouchedBy: readRecordedKeys(row.vouchedBy) };
      const known = latest.get(row.id);
      if (known === undefined || known.expiresAt < row.expiresAt) latest.set(row.id, session);
    }
    return [...latest.values()].slice(0, limit);
  }
}
