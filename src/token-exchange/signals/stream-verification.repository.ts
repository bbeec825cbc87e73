// The last verification of each transmitter's stream, by which the command that has asked for it sees that events arrive.
import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';

@Injectable()
export class StreamVerificationRepository {
  constructor(private readonly database: Database) {}

  /** @param state that the event has, which may be long: its hash is stored */
  async note(transaction: Transaction, issuer: string, state: string, at: Date): Promise<void> {
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_stream_verification (issuer, state_hash, verified_at) VALUES ($1, $2, $3)
       ON CONFLICT (issuer) DO UPDATE SET state_hash = excluded.state_hash, verified_at = excluded.verified_at`,
      [issuer, hash('sha256', state), at],
    );
  }

  /** Whether the last verification of a transmitter had this state. */
  async hasArrived(issuer: string, state: string): Promise<boolean> {
    const rows = await this.database.background.query<unknown>(
      'SELECT 1 FROM token_exchange_stream_verification WHERE issuer = $1 AND state_hash = $2',
      [issuer, hash('sha256', state)],
    );
    return rows.length > 0;
  }
}
