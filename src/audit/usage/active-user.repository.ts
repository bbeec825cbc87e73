// The users whom tokens of each issuer have signed in, by month.
import type { StatementPool } from '../../platform/database/database.js';
import { SIGN_IN_EVENTS } from '../instance-events.js';
import type { Position } from '../trail-statements.sql.js';
import { OLDEST_OPEN_TRANSACTION } from '../trail-statements.sql.js';

const WINDOW_EVENTS = 5_000;

/** The number of users of an issuer in a month. */
export interface ActiveUsers {
  readonly issuer: string;
  /** `2031-05`, in UTC. */
  readonly month: string;
  readonly users: number;
}

/** Leaves out jobs, because their entries name the users. Inserts in one order, so that two leaders cannot deadlock. */
const RECORD = `WITH looked AS (
    SELECT id, transaction_id, name, occurred_at, subject_user_id, payload FROM audit_event
    WHERE (transaction_id, id) > ($1::bigint, $2::bigint) AND transaction_id < ${OLDEST_OPEN_TRANSACTION}
    ORDER BY transaction_id, id LIMIT ${WINDOW_EVENTS}
  ), written AS (
    INSERT INTO active_user (month, issuer, user_id)
    SELECT DISTINCT date_trunc('month', occurred_at AT TIME ZONE 'UTC')::date, payload->>'issuer', subject_user_id FROM looked
    WHERE name = ANY ($3) AND subject_user_id IS NOT NULL AND payload->>'issuer' IS NOT NULL
      AND payload->'workloads'->0->>'iss' IS DISTINCT FROM payload->>'issuer'
    ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING
  ) SELECT transaction_id AS "transactionId", id AS "eventId" FROM looked ORDER BY transaction_id DESC, id DESC LIMIT 1`;

export class ActiveUserRepository {
  constructor(private readonly database: StatementPool) {}

  /** Records the users of the next events of the trail. @returns the position of the last event; undefined if there was none */
  async record({ transactionId, eventId }: Position): Promise<Position | undefined> {
    const [last] = await this.database.query<Position>(RECORD, [transactionId, eventId, SIGN_IN_EVENTS]);
    return last;
  }

  /** Returns the last months, including the current one. */
  count(months: number, now: Date): Promise<ActiveUsers[]> {
    return this.database.query<ActiveUsers>(
      `SELECT issuer, to_char(month, 'YYYY-MM') AS month, count(*)::int AS users FROM active_user
       WHERE month > date_trunc('month', $1::timestamptz AT TIME ZONE 'UTC') - $2::integer * interval '1 month'
       GROUP BY active_user.month, issuer ORDER BY issuer, active_user.month DESC`,
      [now, months],
    );
  }
}
