// A piece of the leader's work: whether it may go on, and the one way by which it changes the database.
import type { Database } from '../database/database.js';
import type { HeldLease, Leader } from './leader.js';
import { SoleLeader } from './leader.js';

/** The condition of each statement of the leader's, beside those that say which rows it changes. */
export const LEADS = 'EXISTS (SELECT FROM leadership)';

const WITH = 'WITH ';

/**
 * Work that began while a process led, and whatever it changes.
 *
 * Whether a process leads it knows by its clock, and nobody knows how long it sleeps between that look and the statement, or
 * where the statement is kept up. So each statement looks for the lease's epoch itself, and holds it until it is committed:
 * who takes the lease over waits for it, and one that comes later waits for who takes it over, finds another epoch and changes
 * nothing. Renewals leave the epoch alone, and are not held up (the unique index of the epoch makes it the row's key).
 */
export class LeaderTerm {
  private readonly lease: HeldLease | undefined;

  /** @param isEnding whether the process has begun to stop */
  constructor(
    private readonly leader: Leader,
    private readonly isEnding: () => boolean = () => false,
  ) {
    this.lease = leader.lease;
  }

  /** Asked before each step. Once it was false, and then it leads anew, that is another piece of work. */
  mayGoOn(): boolean {
    const { isLeader, lease } = this.leader;
    return isLeader && lease?.epoch === this.lease?.epoch && !this.isEnding();
  }

  /**
   * Runs one UPDATE or DELETE, as `Database.change` does.
   * @rule D94 What only the leader may change changes under the lease's present epoch, or not at all.
   * @param text has the condition `LEADS`
   * @returns how many rows it changed; 0 where another leads
   */
  change(database: Database, text: string, values: readonly unknown[] = []): Promise<number> {
    const bound = this.bind(text, values);
    return database.change(bound.text, bound.values);
  }

  /** Runs one statement that answers rows, as `Database.query` does. @param text has the condition `LEADS` */
  query<Row>(database: Database, text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const bound = this.bind(text, values);
    return database.query<Row>(bound.text, bound.values);
  }

  private bind(text: string, values: readonly unknown[]): { text: string; values: unknown[] } {
    if (!text.includes(LEADS)) throw new Error('a statement of the leader does not ask whether it leads');
    const { lease } = this;
    const held = lease === undefined ? 'SELECT' : heldLease(values.length);
    const rest = text.startsWith(WITH) ? `, ${text.slice(WITH.length)}` : ` ${text}`;
    const bound = lease === undefined ? [] : [lease.epoch, lease.candidate];
    return { text: `WITH leadership AS MATERIALIZED (${held})${rest}`, values: [...values, ...bound] };
  }
}

/** For what any instance may change, by the same statements. */
export const ANYBODY = new LeaderTerm(new SoleLeader());

/**
 * Of epochs with the same number, on two servers of which one had not everything that was committed on the other when it took its
 * place, the candidate tells which is meant.
 */
function heldLease(parametersBefore: number): string {
  const [epoch, candidate] = [parametersBefore + 1, parametersBefore + 2];
  return `SELECT FROM token_exchange_leader_lease WHERE epoch = $${epoch} AND candidate = $${candidate} FOR KEY SHARE`;
}
