// Finds the users that external identities are linked to: the only statement across the tables of two modules.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Batch } from './database/batch.js';
import { runPrepared } from './database/prepared-statement.js';
import type { ExternalIdentity, HostUser } from './token-exchange/host.js';

/**
 * Each by its keys, in the order of asking; a row of nulls for an identity without user.
 *
 * It stands in every exchange of a known user. Two statements, one for each table, cost such an exchange a tenth more.
 */
const FIND = {
  name: 'linked_user_find',
  text: `SELECT found.* FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (issuer, subject, place)
    LEFT JOIN LATERAL (
      SELECT account.id, account.role, account.enabled, account.given_name AS "givenName",
        account.family_name AS "familyName"
      FROM identity_link link JOIN user_account account ON account.id = link.user_id
      WHERE link.issuer = asked.issuer AND link.subject = asked.subject LIMIT 1
    ) found ON true ORDER BY asked.place`,
};

@Injectable()
export class LinkedUserRepository {
  private readonly finds = new Batch((identities: readonly ExternalIdentity[]) => this.findAll(identities));

  constructor(private readonly dataSource: DataSource) {}

  /** The user of an identity as it is now. */
  find(identity: ExternalIdentity): Promise<HostUser | undefined> {
    return this.finds.add(identity);
  }

  private async findAll(identities: readonly ExternalIdentity[]): Promise<(HostUser | undefined)[]> {
    const values = [identities.map(({ issuer }) => issuer), identities.map(({ subject }) => subject)];
    const rows = await runPrepared<HostUser | Record<keyof HostUser, null>>(this.dataSource, FIND, values);
    return rows.map((row) => (row.id === null ? undefined : row));
  }
}
