// Records the users of each month from the audit trail, so that requests need not: an event stays for a day at least, and is read within minutes.
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../../platform/database/database.js';
import { Database } from '../../platform/database/database.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import { ApplicationJob } from '../../platform/jobs/periodic.job.js';
import type { Purge } from '../../platform/jobs/purge.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { SIGN_IN_EVENTS } from '../instance-events.js';
import { ACTIVE_USERS_CURSOR, BEGINNING, SinkCursorRepository } from '../sinks/sink-cursor.repository.js';
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
const RECORD = `WITH searched AS (
    SELECT id, transaction_id, name, occurred_at, subject_user_id, payload FROM audit_event
    WHERE (transaction_id, id) > ($1::bigint, $2::bigint) AND transaction_id < ${OLDEST_OPEN_TRANSACTION}
    ORDER BY transaction_id, id LIMIT ${WINDOW_EVENTS}
  ), written AS (
    INSERT INTO active_user (month, issuer, user_id)
    SELECT DISTINCT date_trunc('month', occurred_at AT TIME ZONE 'UTC')::date, payload->>'issuer', subject_user_id FROM searched
    WHERE name = ANY ($3) AND subject_user_id IS NOT NULL AND payload->>'issuer' IS NOT NULL
      AND payload->'workloads'->0->>'iss' IS DISTINCT FROM payload->>'issuer'
    ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING
  ) SELECT transaction_id AS "transactionId", id AS "eventId" FROM searched ORDER BY transaction_id DESC, id DESC LIMIT 1`;

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

/** Lets requests in between two windows. */
const PAUSE_MS = 20;
/** 24 months and the current one. */
const KEPT_DAYS = 762;

export const ACTIVE_USER_PURGE: Purge = {
  name: 'active-user-purge',
  intervalSeconds: 3_600,
  batchSize: 1_000,
  tables: [{ table: 'active_user', time: 'month', keptMs: KEPT_DAYS * 86_400_000 }],
};

@Injectable()
export class ActiveUsersJob extends ApplicationJob {
  private readonly users: ActiveUserRepository;

  constructor(
    private readonly cursors: SinkCursorRepository,
    { background }: Database,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'active-users', intervalSeconds: 60 }, leader, log);
    this.users = new ActiveUserRepository(background);
  }

  /** What was read before may be read again: a user is recorded once. So a restored trail is read from its beginning. */
  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    await this.cursors.begin(ACTIVE_USERS_CURSOR, BEGINNING);
    const cursor = await this.cursors.cursorOf(ACTIVE_USERS_CURSOR);
    let from = cursor?.position;
    let position = cursor?.isAhead === true ? BEGINNING : from;
    while (mayGoOn() && from !== undefined && position !== undefined) {
      const last = await this.users.record(position);
      if (last === undefined || !(await this.cursors.move(ACTIVE_USERS_CURSOR, from, last))) return;
      from = position = last;
      await pause(PAUSE_MS);
    }
  }
}
