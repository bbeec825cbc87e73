// Remembers users by their identities, so that nearly every request is decided on without reading one.
import { Inject, Injectable } from '@nestjs/common';
import type { Batch } from '../../platform/database/batch.js';
import { Database } from '../../platform/database/database.js';
import { SharedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { givenRows, identifier, sql } from '../../platform/database/sql.js';
import type { ExternalIdentity, HostUser } from '../host/users.js';
import type { TokenExchangeOptions, UserTable } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';

/** A linked user, and the version of the row that was read. */
export interface KnownUser extends HostUser {
  readonly version: string;
  /** Of the link: what `IdentityLinkRepository.findProjectsDigest` finds. */
  readonly projectsDigest: string | null;
}

/** Some 10 MB when full. */
const MAX_USERS = 20_000;

/**
 * Its users may be out of date. So a decision on them, also a refusal, counts only if the commit statement finds the same version:
 * see commit.service.ts. An identity without a user is looked up each time.
 */
@Injectable()
export class KnownUsers {
  private readonly users = new Map<string, KnownUser>();
  private readonly lookUps: Batch<ExternalIdentity, KnownUser | undefined> | undefined;

  constructor(
    database: Database,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { userTable }: Pick<TokenExchangeOptions, 'userTable'>,
  ) {
    this.lookUps = userTable && lookUpIn(userTable).on(database.dataSource);
  }

  /** Undefined where the identity is not linked, or the host has not named its table of users. */
  async find(identity: ExternalIdentity): Promise<KnownUser | undefined> {
    if (this.lookUps === undefined) return undefined;
    const key = keyOf(identity);
    const known = this.users.get(key) ?? (await this.lookUps.add(identity));
    if (known !== undefined) this.remember(key, known);
    return known;
  }

  forget(identity: ExternalIdentity): void {
    this.users.delete(keyOf(identity));
  }

  /** A full map drops the least recently used user. */
  private remember(key: string, user: KnownUser): void {
    this.users.delete(key);
    this.users.set(key, user);
    if (this.users.size <= MAX_USERS) return;
    for (const oldest of this.users.keys()) {
      this.users.delete(oldest);
      break;
    }
  }
}

const ASKED: Sql<readonly ExternalIdentity[]> = givenRows(
  'asked',
  (identities: readonly ExternalIdentity[]) => identities,
  { issuer: ['text', ({ issuer }) => issuer], subject: ['text', ({ subject }) => subject] },
  'position',
);

/** LATERAL with LIMIT makes the planner use the two keys, one after the other, for tables of any size. */
export function lookUpIn({ name, idType, columns }: UserTable) {
  const column = (member: keyof UserTable['columns']) => sql`account.${identifier(columns[member])}`;
  return new SharedStatement(
    'linked_user_find',
    sql`SELECT found.* FROM ${ASKED} LEFT JOIN LATERAL (
      SELECT ${column('id')}::text AS id, ${column('version')}::text AS version, ${column('role')} AS role,
        ${column('enabled')} AS enabled, ${column('givenName')} AS "givenName", ${column('familyName')} AS "familyName",
        ${column('accessGeneration')}::text AS "accessGeneration", link.projects_digest AS "projectsDigest"
      FROM token_exchange_identity_link AS link
        JOIN ${identifier(name)} AS account ON ${column('id')} = link.user_id::${identifier(idType)}
      WHERE link.issuer = asked.issuer AND link.subject = asked.subject LIMIT 1
    ) found ON true ORDER BY asked.position`,
    (rows: readonly (KnownUser | Record<keyof KnownUser, null>)[]) =>
      rows.map((row) => (row.id === null ? undefined : row)),
  );
}

function keyOf({ issuer, subject }: ExternalIdentity): string {
  return JSON.stringify([issuer, subject]);
}
