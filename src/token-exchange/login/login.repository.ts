// `record` of a login: the statement by which concurrent logins write their sessions and events. It contains no rule about users.
import { Inject, Injectable } from '@nestjs/common';
import type { Batch } from '../../platform/database/database.js';
import { Database } from '../../platform/database/database.js';
import { identifier, nameOn, parameter, SharedStatement, sql } from '../../platform/database/sql.js';
import type { AuditEvent, EventInsertion } from '../audit/audit-trail.js';
import { AuditBus, AuditTrail } from '../audit/audit-trail.js';
import { keysOfLogin, recordedKeys } from '../revocation/revocations.js';
import type { TokenExchangeOptions, UserTable } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { NewSession } from './session.repository.js';

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
      given.map(({ event, session }, place) => ({ place, ...events.rowOf(event), ...rowOf(session) })),
    ),
  );
  return new SharedStatement(
    nameOn(table, 'login_record'),
    sql`WITH login AS MATERIALIZED (
    SELECT given.* FROM json_to_recordset(${logins}) AS given (place integer, ${events.columns}, subject_user_id ${userId},
      actor_user_id ${userId}, id_hash text, family_id uuid, created_at float8, expires_at float8, login_origin text, vouched_by jsonb,
      access_generation text, login_subject text, login_session text, login_issued_at float8,
      key_thumbprint text, used_at float8)
      JOIN ${identifier(name)} AS account ON account.${identifier(columns.id)} = given.subject_user_id
    FOR KEY SHARE OF account
  ), recorded AS (
    ${events.insertionFrom(sql`login`)}
  ), opened AS (
    INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at, login_origin, vouched_by, access_generation,
      login_subject, login_session, login_issued_at, key_thumbprint, used_at)
    SELECT decode(id_hash, 'hex'), subject_user_id, family_id, to_timestamp(created_at), to_timestamp(expires_at), login_origin,
      vouched_by, access_generation, login_subject, login_session, login_issued_at, key_thumbprint, to_timestamp(used_at)
    FROM login
  ) SELECT place FROM login`,
    (rows, given) => {
      const places = new Set(rows.map(({ place }) => place));
      return given.map((_, place) => places.has(place));
    },
  );
}

function rowOf(session: NewSession): Record<string, unknown> {
  const [loginSubject, loginSession] = keysOfLogin(session.externalLogin);
  return {
    id_hash: session.idHash.toString('hex'),
    family_id: session.familyId,
    created_at: session.createdAt.getTime() / 1000,
    expires_at: session.expiresAt.getTime() / 1000,
    login_origin: session.loginOrigin,
    vouched_by: recordedKeys(session.signedBy),
    access_generation: session.accessGeneration,
    login_subject: loginSubject,
    login_session: loginSession,
    login_issued_at: session.externalLogin.iat,
    key_thumbprint: session.keyThumbprint,
    used_at: session.usedAt.getTime() / 1000,
  };
}
