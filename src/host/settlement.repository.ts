// All that the database does for requests whose users need no change, but for opening sessions: one statement for many.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AUDIT_EVENTS } from '../audit/audit-trail.repository.js';
import type { Consumption, Verdict } from '../token-exchange/consumption/consumption-statement.js';
import { VERDICT, preparedConsumption } from '../token-exchange/consumption/consumption-statement.js';
import { ConsumptionBatch } from '../token-exchange/consumption/jti-consumption.js';
import type { Sql } from '../token-exchange/database/sql.js';
import { givenRows, sql } from '../token-exchange/database/sql.js';
import { limitsOf } from '../token-exchange/database/wait-limit.js';
import type { ExpectedUser, Settled, Settlement } from '../token-exchange/host.js';
import { Settlements } from '../token-exchange/host.js';

/** One of the users whom a request speaks of, and the index of the request. */
interface Party {
  readonly request: number;
  readonly isActor: boolean;
  readonly user: ExpectedUser;
}

const PARTY = givenRows('party', ({ requests }: Consumption<Settlement>) => requests.flatMap(partiesOf), {
  request: ['integer', ({ request }) => request],
  is_actor: ['boolean', ({ isActor }) => isActor],
  issuer: ['text', ({ user }) => user.issuer],
  subject: ['text', ({ user }) => user.subject],
  given_name: ['text', ({ user }) => user.givenName ?? null],
  family_name: ['text', ({ user }) => user.familyName ?? null],
  role: ['text', ({ user }) => user.role ?? null],
  permitted_roles: ['jsonb', ({ user }) => JSON.stringify(user.permittedRoles) ?? null],
  excluded_role: ['text', ({ user }) => user.excludedRole ?? null],
});

const TOLD = AUDIT_EVENTS.insertion(
  ({ requests }: Consumption<Settlement>) => requests.map(({ events }) => events),
  sql`settled`,
);

/**
 * The only statement across the tables of several modules, which is why it lies above them all: jti, links, users, audit.
 *
 * A user is looked up by the two keys, one after the other (LATERAL with LIMIT), whatever the planner thinks of the sizes.
 * Its measurement: docs/performance.md.
 */
function settle(clauses: Sql<Consumption<Settlement>>): Sql<Consumption<Settlement>> {
  return sql`WITH ${clauses}, party AS (
      SELECT * FROM ${PARTY}
    ), met AS (
      SELECT party.request, party.is_actor, found.id FROM party LEFT JOIN LATERAL (
        SELECT account.id FROM token_exchange_identity_link link JOIN user_account account ON account.id = link.user_id
        WHERE link.issuer = party.issuer AND link.subject = party.subject AND account.enabled
          AND account.given_name = coalesce(party.given_name, account.given_name)
          AND account.family_name = coalesce(party.family_name, account.family_name)
          AND account.role = coalesce(party.role, account.role)
          AND coalesce(party.permitted_roles ? account.role, true)
          AND account.role IS DISTINCT FROM party.excluded_role
        LIMIT 1
      ) found ON true
    ), settled AS (
      SELECT met.request, (array_agg(met.id) FILTER (WHERE NOT met.is_actor))[1] AS subject_user_id,
        (array_agg(met.id) FILTER (WHERE met.is_actor))[1] AS actor_user_id
      FROM met JOIN verdict ON verdict.request = met.request AND verdict.is_accepted
      GROUP BY met.request HAVING every(met.id IS NOT NULL)
    ), told AS (
      ${TOLD}
    )
    SELECT ${VERDICT},
      settled.subject_user_id AS "subjectUserId", settled.actor_user_id AS "actorUserId"
    FROM verdict LEFT JOIN settled ON settled.request = verdict.request ORDER BY verdict.request`;
}

interface SettledRow extends Verdict {
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
}

const settleFor = preparedConsumption<Settlement, SettledRow>('exchange_settle', settle);

@Injectable()
export class SettlementRepository extends Settlements {
  private readonly settlements: ConsumptionBatch<Settlement, SettledRow>;

  constructor(dataSource: DataSource) {
    super();
    this.settlements = new ConsumptionBatch(
      (consumption) => settleFor(consumption).run(dataSource, consumption),
      limitsOf(dataSource).waitMs,
    );
  }

  async settle(settlement: Settlement): Promise<Settled> {
    const { subjectUserId, actorUserId } = await this.settlements.consume(settlement);
    if (subjectUserId === null) return { isSettled: false };
    const users = { subjectUserId, ...(actorUserId === null ? {} : { actorUserId }) };
    return { isSettled: true, users };
  }
}

function partiesOf({ subject, actor }: Settlement, request: number): Party[] {
  const party = { request, isActor: false, user: subject };
  return actor === undefined ? [party] : [party, { request, isActor: true, user: actor }];
}
