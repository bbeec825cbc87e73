// Keeps the leadership in the database: the advisory lock of a session, and the lease beside it in `token_exchange_leader_lease`.
import type { LeaderSession } from './leader-session.js';
import { LEADERSHIP_FREE_CHANNEL } from './leader-session.js';

/**
 * Names "the leader of this service" among a database's advisory locks: one for each table of the lease, since two products may
 * have theirs in two schemas of one database. Two releases that name it differently are kept apart by the lease alone.
 */
const LEADER_LOCK = `(7236450102 + 'token_exchange_leader_lease'::regclass::oid::bigint)`;

/** How long the leadership stays taken after its last renewal, in milliseconds on the database's clock. */
export const LEASE_MS = 9_000;

/** What a candidate sees of the lease. */
export interface SeenLease {
  /** Until it runs out; negative once it has. */
  readonly remainingMs: number;
  /** Another text after each renewal. */
  readonly renewal: string;
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** What one candidate does about lock and lease, over its own session. Every method fails as the session does. */
export class LeaderLeaseRepository {
  /** @param candidate names this process among the candidates: a UUID */
  constructor(
    readonly session: LeaderSession,
    private readonly candidate: string,
  ) {}

  /** Looks at the lease of whoever has it. One that runs too long, since the database's clock was set back, is shortened. */
  async look(): Promise<SeenLease> {
    await this.session.query(
      `UPDATE token_exchange_leader_lease SET expires_at = clock_timestamp() + $1 * interval '1 millisecond'
       WHERE expires_at > clock_timestamp() + $1 * interval '1 millisecond'`,
      [LEASE_MS],
    );
    const [seen] = await this.session.query<SeenLease>(
      `SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS "remainingMs",
         epoch || ' ' || expires_at AS renewal FROM token_exchange_leader_lease`,
    );
    return seen ?? { remainingMs: -Infinity, renewal: '' };
  }

  /** Takes the lock if no other session has it. */
  async tryLock(): Promise<boolean> {
    const [row] = await this.session.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(${LEADER_LOCK}) AS locked`,
    );
    return row?.locked === true;
  }

  async unlock(): Promise<void> {
    await this.session.query('SELECT pg_advisory_unlock_all()');
  }

  /**
   * Takes the lease in one atomic statement if it ran out at least `silenceMs` ago, by the database's clock. Its epoch
   * grows, so that the one before can never renew again, and changes nothing any more.
   * @rule D95 The lease is a row, which a standby has when it takes its primary's place, and which one candidate gets.
   * @returns the epoch, or undefined when the lease belongs to another
   */
  async take(silenceMs: number): Promise<string | undefined> {
    const [row] = await this.session.query<{ epoch: string }>(
      `INSERT INTO token_exchange_leader_lease AS lease (epoch, candidate, expires_at)
       VALUES (1, $1, clock_timestamp() + $2 * interval '1 millisecond')
       ON CONFLICT (singleton) DO UPDATE
         SET epoch = lease.epoch + 1, candidate = excluded.candidate, expires_at = excluded.expires_at
         WHERE lease.expires_at + $3 * interval '1 millisecond' <= clock_timestamp()
       RETURNING epoch`,
      [this.candidate, LEASE_MS, silenceMs],
    );
    return row?.epoch;
  }

  /** @returns false when a newer epoch has begun */
  async renew(epoch: string): Promise<boolean> {
    const rows = await this.session.query(
      `UPDATE token_exchange_leader_lease SET expires_at = clock_timestamp() + $3 * interval '1 millisecond'
       WHERE candidate = $1 AND epoch = $2 RETURNING epoch`,
      [this.candidate, epoch, LEASE_MS],
    );
    return rows.length === 1;
  }

  /**
   * Ends the lease if it is this candidate's, and tells the others. The epoch grows here too: a renewal that is still
   * under way on a lost connection then finds nothing to renew.
   */
  async resign(): Promise<void> {
    const rows = await this.session.query(
      `UPDATE token_exchange_leader_lease SET epoch = epoch + 1, expires_at = clock_timestamp()
       WHERE candidate = $1 AND expires_at > clock_timestamp() RETURNING epoch`,
      [this.candidate],
    );
    await this.unlock();
    if (rows.length > 0) await this.session.query(`NOTIFY ${LEADERSHIP_FREE_CHANNEL}`);
  }

  /**
   * Ends the session that still has the lock although its lease has gone to this candidate: the session of a host
   * that has vanished. Not that of a later leader (D94). Where the database does not permit it, the server's TCP keepalives do the same a little later.
   */
  async endStaleHolder(epoch: string): Promise<void> {
    try {
      await this.session.query(
        `WITH leadership AS MATERIALIZED (
           SELECT FROM token_exchange_leader_lease WHERE epoch = $1 AND candidate = $2 FOR KEY SHARE
         ) SELECT pg_terminate_backend(pid) FROM pg_locks
         WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid() AND objsubid = 1
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND classid::bigint = ${LEADER_LOCK} >> 32 AND objid::bigint = ${LEADER_LOCK} & 4294967295
           AND EXISTS (SELECT FROM leadership)`,
        [epoch, this.candidate],
      );
    } catch (error) {
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
    }
  }
}
