// The statement by which concurrent requests create the users of unknown identities, with their links, sessions and events. It
// contains no rule about users.
import { Inject, Injectable } from '@nestjs/common';
import type { Batch } from '../../platform/database/database.js';
import { Database } from '../../platform/database/database.js';
import { isDeadlock, isUniqueViolation } from '../../platform/database/database-error.js';
import {
  givenRows,
  identifier,
  nameOn,
  parameter,
  SharedStatement,
  sql,
} from '../../platform/database/sql.js';
import type { AuditEvent, EventInsertion } from '../audit/audit-trail.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { ExternalIdentity, NewHostUser, PlannedUser, UserCreation } from '../host/users.js';
import { UserDirectory } from '../host/users.js';
import type { NewSession } from '../login/session.repository.js';
import { sessionInsertion } from '../login/session.repository.js';
import type { TokenExchangeOptions, UserTable } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';

/**
 * A user to be created, the identity to be linked to it, the session of a login, and the request's events, whose subject is the
 * user.
 */
export interface Provisioning {
  readonly user: PlannedUser;
  readonly identity: ExternalIdentity;
  /** Whether an administrator's entry vouches for the link. */
  readonly byAdministrator: boolean;
  readonly session?: NewSession | undefined;
  readonly events: readonly AuditEvent[];
}

@Injectable()
export class ProvisioningRepository {
  /** Undefined if the host creates its users itself, or has its own trail. */
  private readonly requests: Batch<Provisioning, boolean> | undefined;

  constructor(
    database: Database,
    { eventInsertion }: AuditTrail,
    private readonly users: UserDirectory,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { userTable }: Pick<TokenExchangeOptions, 'userTable'>,
  ) {
    const { creation } = users;
    if (creation !== undefined && eventInsertion !== undefined && userTable !== undefined)
      this.requests = database.share(provisionStatement(userTable, creation, eventInsertion));
  }

  /** The user as `provision` creates it; undefined if this host needs a transaction. */
  planned(user: NewHostUser): PlannedUser | undefined {
    return this.requests && this.users.creation?.planned(user);
  }

  /**
   * Creates the user with its link, session and events, or nothing.
   * @returns false if another user has the e-mail address, or the identity is linked by now
   */
  async provision(one: Provisioning): Promise<boolean> {
    try {
      return (await this.requests?.add(one)) ?? false;
    } catch (error) {
      if (isUniqueViolation(error) || isDeadlock(error)) return false;
      throw error;
    }
  }
}

/**
 * The constraints decide every race. A taken address leaves out its user; a link that exists fails the statement, so that no user
 * is without a link. Users come before links, each in order, so that two statements do not wait for each other.
 */
export function provisionStatement(
  table: UserTable,
  creation: UserCreation,
  events: EventInsertion,
): SharedStatement<Provisioning, { readonly id: string }, boolean> {
  const userId = identifier(table.idType);
  const newcomers = givenRows(
    'given',
    (requests: readonly Provisioning[]) =>
      requests.map(({ user, identity, byAdministrator }) => ({ ...user, ...identity, byAdministrator })),
    {
      ...creation.columns,
      issuer: ['text', ({ issuer }) => issuer],
      subject: ['text', ({ subject }) => subject],
      by_administrator: ['boolean', ({ byAdministrator }) => byAdministrator],
    },
  );
  const told = parameter('json', (requests: readonly Provisioning[]) =>
    JSON.stringify(
      requests.flatMap((one) => one.events).map((event, place) => ({ place, ...events.rowOf(event) })),
    ),
  );
  const sessions = parameter('json', (requests: readonly Provisioning[]) =>
    JSON.stringify(
      requests.flatMap(({ user, session }) =>
        session === undefined ? [] : { subject_user_id: user.id, ...sessionInsertion.rowOf(session) },
      ),
    ),
  );
  return new SharedStatement(
    nameOn(table, 'user_provision'),
    sql`WITH newcomer AS MATERIALIZED (SELECT * FROM ${newcomers}), ${creation.madeFrom(sql`newcomer`)}, linked AS (
    INSERT INTO token_exchange_identity_link (issuer, subject, user_id, by_administrator, is_provisioned)
    SELECT issuer, subject, made.id, by_administrator, true FROM newcomer JOIN made ON made.id = newcomer.id ORDER BY issuer, subject
  ), opened AS (
    ${sessionInsertion.insertionFrom(sql`(SELECT session.* FROM json_to_recordset(${sessions}) AS session (subject_user_id ${userId},
        ${sessionInsertion.columns}) JOIN made ON made.id = session.subject_user_id) session`)}
  ), recorded AS (
    ${events.insertionFrom(sql`(SELECT event.* FROM json_to_recordset(${told}) AS event (place integer, ${events.columns},
        subject_user_id ${userId}, actor_user_id ${userId})
      JOIN made ON made.id = event.subject_user_id ORDER BY place) event`)}
  ) SELECT id::text AS id FROM made`,
    (rows, requests) => {
      const made = new Set(rows.map(({ id }) => id));
      return requests.map(({ user }) => made.has(user.id));
    },
  );
}
