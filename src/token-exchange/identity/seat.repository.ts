// Counts the users of an issuer who have a seat, of which the entries of the issuer may have a number (`maxUsers`).
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../../platform/database/database.js';
import type { Sql } from '../../platform/database/sql.js';
import { identifier, parameter, sql, writtenSql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { ExternalIdentity } from '../host/users.js';
import type { TokenExchangeOptions, UserTable } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';

/** The second key of advisory locks for seats; the first is the hash of an issuer. */
const SEATS_LOCK = 7_236_450;

interface Asked extends ExternalIdentity {
  /** The id of the user who has the e-mail address of the identity. */
  readonly userId: string | undefined;
  /** The number of seats of the issuer. */
  readonly most: number;
}

/** Users with a seat in an issuer. */
export interface SeatCount {
  readonly issuer: string;
  readonly users: number;
}

const ISSUER = parameter('text', ({ issuer }: Asked) => issuer);
const SUBJECT = parameter('text', ({ subject }: Asked) => subject);
const USER = parameter('text', ({ userId }: Asked) => userId);
const MOST = parameter('integer', ({ most }: Asked) => most);
const ISSUERS = parameter('text[]', (issuers: readonly string[] | undefined) => issuers);

/** An index alone answers it, in a tenth of the time that counting users takes. */
const LINKS = writtenSql(sql<Asked>`SELECT count(*)::int AS links FROM (
    SELECT FROM token_exchange_identity_link WHERE issuer = ${ISSUER} AND subject <> ${SUBJECT} LIMIT ${MOST}
  ) AS counted`);

/** Links of users who are not disabled. At a host that does not name its table of users every linked user has a seat. */
@Injectable()
export class SeatRepository {
  private readonly taken: ReturnType<typeof takenStatement>;
  private readonly all: ReturnType<typeof countStatement>;

  constructor(@Inject(TOKEN_EXCHANGE_OPTIONS) { userTable }: Pick<TokenExchangeOptions, 'userTable'>) {
    const links = sql`token_exchange_identity_link AS link${userTable ? enabledUsers(userTable) : sql``}`;
    this.taken = takenStatement(links);
    this.all = countStatement(links);
  }

  /**
   * Lets one transaction at a time give a seat of the issuer away (D6). Statements that begin afterwards see those that were given before.
   */
  async lock(transaction: Transaction, issuer: string): Promise<void> {
    await managerOf(transaction).query('SELECT pg_advisory_xact_lock(hashtext($1), $2)', [
      issuer,
      SEATS_LOCK,
    ]);
  }

  /**
   * The number of seats that are taken without this identity. It is exact if no seat is free; an issuer with fewer links than seats has a
   * free one, whosever the links are.
   * @returns undefined if the user with its e-mail address has a seat, by another identity of the issuer
   */
  async takenWithout(transaction: Transaction, asked: Asked): Promise<number | undefined> {
    const manager = managerOf(transaction);
    const [counted] = await manager.query<{ links: number }[]>(LINKS.text, LINKS.values(asked));
    if (counted !== undefined && counted.links < asked.most) return counted.links;
    const { text, values } = this.taken;
    const [row] = await manager.query<{ taken: number; isSeated: boolean }[]>(text, values(asked));
    return row?.isSeated === true ? undefined : (row?.taken ?? 0);
  }

  /** @param issuers undefined: all that have users */
  count(pool: StatementPool, issuers?: readonly string[]): Promise<SeatCount[]> {
    return pool.query<SeatCount>(this.all.text, this.all.values(issuers));
  }
}

function enabledUsers({ name, idType, columns: { id, enabled } }: UserTable): Sql {
  return sql` JOIN ${identifier(name)} AS account
      ON account.${identifier(id)} = link.user_id::${identifier(idType)} AND account.${identifier(enabled)}`;
}

function takenStatement(links: Sql) {
  return writtenSql(sql<Asked>`SELECT count(*)::int AS taken, coalesce(bool_or(user_id::text = ${USER}), false) AS "isSeated" FROM (
      SELECT DISTINCT link.user_id FROM ${links}
      WHERE link.issuer = ${ISSUER} AND link.subject <> ${SUBJECT}
    ) seated`);
}

function countStatement(links: Sql) {
  return writtenSql(sql<
    readonly string[] | undefined
  >`SELECT link.issuer, count(DISTINCT link.user_id)::int AS users FROM ${links}
      WHERE ${ISSUERS} IS NULL OR link.issuer = ANY (${ISSUERS}) GROUP BY link.issuer ORDER BY link.issuer`);
}
