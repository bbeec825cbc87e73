// Finds users by the subjects of their linked identities, and vice versa.
import { Inject, Injectable } from '@nestjs/common';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import type { StatementPool } from '../../platform/database/database.js';

@Injectable()
export class LinkedSubjectReader {
  constructor(@Inject(OPERATOR_DATABASE) private readonly database: StatementPool) {}

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
