// `record` of a login: the statement by which concurrent logins write their sessions and events. It contains no rule about users.
import { Inject, Injectable } from '@nestjs/common';
import type { Batch } from '../../platform/database/database.js';
import { Database } from '../../platform/database/database.js';
import { identifier, nameOn, parameter, SharedStatement, sql } from '../../platform/database/sql.js';
import type { AuditEvent, EventInsertion } from '../audit/audit-trail.js';
import { AuditBus, AuditTrail } from '../audit/audit-trail.js';
import type { TokenExchangeOptions, UserTable } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { NewSession } from './session.repository.js';
import { sessionInsertion } from './session.repository.js';

/** A login that changes nothing about its user, who is the subject of the event. */
export interface RecordedLogin {
  readonly session: NewSession;
  readonly event: AuditEvent;
}

@Injectable()
export class LoginRepository {
  /** Undefined if the host has not named its table of users, or has its own trail. */
  private readonly logins: Batch<RecordedLogin, boolean> | undefined;

  constructor(
    database: Database,
    trail: AuditTrail,
    private readonly audit: AuditBus,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { userTable }: Pick<TokenExchangeOptions, 'userTable'>,
  ) {
    if (userTable !== undefined && trail.eventInsertion !== undefined)
      this.logins = database.share(recordStatement(userTable, trail.eventInsertion));
  }

  /** Whether logins can be recorded at this host. */
  get canRecord(): boolean {
    return this.logins !== undefined;
  }

  /** Writes session and event, and publishes the event; or does neither. @returns whether the user still exists */
  async record(login: RecordedLogin): Promise<boolean> {
    const isWritten = (await this.logins?.add(login)) ?? false;
    if (isWritten) this.audit.publish([login.event]);
    return isWritten;
  }
}

/**
 * The lock keeps the user until the statement ends, as a foreign key would. If the user is disabled at the same time, the session
 * carries the earlier generation, and each use is refused.
 */
export function recordStatement(
  table: UserTable,
  events: EventInsertion,
): SharedStatement<RecordedLogin, { readonly place: number }, boolean> {
  const { name, idType, columns } = table;
  const userId = identifier(idType);
  const logins = parameter('json', (given: readonly RecordedLogin[]) =>
    JSON.stringify(
      given.map(({ event, session }, place) => ({
        place,
        ...events.rowOf(event),
        ...sessionInsertion.rowOf(session),
      })),
    ),
  );
  return new SharedStatement(
    nameOn(table, 'login_record'),
    sql`WITH login AS MATERIALIZED (
    SELECT given.* FROM json_to_recordset(${logins}) AS given (place integer, ${events.columns}, subject_user_id ${userId},
      actor_user_id ${userId}, ${sessionInsertion.columns})
      JOIN ${identifier(name)} AS account ON account.${identifier(columns.id)} = given.subject_user_id
    FOR KEY SHARE OF account
  ), recorded AS (
    ${events.insertionFrom(sql`login`)}
  ), opened AS (
    ${sessionInsertion.insertionFrom(sql`login`)}
  ) SELECT place FROM login`,
    (rows, given) => {
      const places = new Set(rows.map(({ place }) => place));
      return given.map((_, place) => places.has(place));
    },
  );
}
