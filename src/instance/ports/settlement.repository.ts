// All that the database does for requests whose users need no change: one statement for many.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AUDIT_EVENTS } from '../../audit/audit-trail.repository.js';
import type { Consumption, Verdict } from '../../token-exchange/consumption/consumption-statement.js';
import { VERDICT, preparedConsumption } from '../../token-exchange/consumption/consumption-statement.js';
import { ConsumptionBatch } from '../../token-exchange/consumption/jti-consumption.js';
import type { Batch } from '../../platform/database/batch.js';
import { isDeadlock, isDivisionByZero } from '../../platform/database/database-error.js';
import { runTogether } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { givenRows, sql } from '../../platform/database/sql.js';
import { limitsOf } from '../../platform/database/wait-limit.js';
import type {
  ExpectedUser,
  LoginSettlement,
  Newcomer,
  Provisioned,
  Settled,
  SettledLogin,
  Settlement,
} from '../../token-exchange/host/settlements.js';
import { Settlements } from '../../token-exchange/host/settlements.js';
import type { LoginAtTurn } from '../../token-exchange/sessions/session-settlement.js';
import { TAKE_TURNS, openingClauses } from '../../token-exchange/sessions/session-settlement.js';
import type { PreparedNewcomer } from './provisioning.statement.js';
import { PROVISION, prepared } from './provisioning.statement.js';

/** One of the users whom a request speaks of, and the index of the request. */
interface Party {
  readonly request: number;
  readonly isActor: boolean;
  readonly user: ExpectedUser;
}

type Parties = Pick<Settlement, 'subject' | 'actor'>;

const PARTY = givenRows('party', ({ requests }: Consumption<Parties>) => requests.flatMap(partiesOf), {
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

function eventsOf({ requests }: Consumption<Pick<Settlement, 'events'>>) {
  return requests.map(({ events }) => events);
}

/**
 * Users are looked up by the two keys, one after the other (LATERAL with LIMIT), whatever the planner thinks of the sizes.
 * Its measurement: docs/performance.md.
 */
const SETTLED: Sql<Consumption<Parties>> = sql`party AS (
      SELECT * FROM ${PARTY}
    ), met AS (
      SELECT party.request, party.is_actor, found.id, found.generation FROM party LEFT JOIN LATERAL (
        SELECT account.id, account.access_generation::text AS generation FROM token_exchange_identity_link link JOIN user_account account ON account.id = link.user_id
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
        (array_agg(met.id) FILTER (WHERE met.is_actor))[1] AS actor_user_id,
        min(met.generation) FILTER (WHERE NOT met.is_actor) AS subject_generation,
        min(met.generation) FILTER (WHERE met.is_actor) AS actor_generation
      FROM met JOIN verdict ON verdict.request = met.request AND verdict.is_accepted
      GROUP BY met.request HAVING every(met.id IS NOT NULL)
    )`;

/** The only statements across the tables of several modules, which is why they lie above them all: jti, links, users, audit. */
function settle(clauses: Sql<Consumption<Settlement>>): Sql<Consumption<Settlement>> {
  return sql`WITH ${clauses}, ${SETTLED}, told AS (
      ${AUDIT_EVENTS.insertion(eventsOf, sql`settled`)}
    )
    SELECT ${VERDICT},
      settled.subject_user_id AS "subjectUserId", settled.actor_user_id AS "actorUserId",
      settled.subject_generation AS "subjectGeneration", settled.actor_generation AS "actorGeneration"
    FROM verdict LEFT JOIN settled ON settled.request = verdict.request ORDER BY verdict.request`;
}

/** The same for logins, with the sessions of those who have room for one more. */
function settleLogins(clauses: Sql<Consumption<LoginAtTurn>>): Sql<Consumption<LoginAtTurn>> {
  return sql`WITH ${clauses}, ${SETTLED}, ${openingClauses(({ requests }: Consumption<LoginAtTurn>) => requests, sql`settled`)}, told AS (
      ${AUDIT_EVENTS.insertion(eventsOf, sql`opening`)}
    )
    SELECT ${VERDICT}, settled.subject_user_id AS "subjectUserId", settled.subject_generation AS "subjectGeneration",
      opening.request IS NOT NULL AS "isOpened"
    FROM verdict LEFT JOIN settled ON settled.request = verdict.request
      LEFT JOIN opening ON opening.request = verdict.request ORDER BY verdict.request`;
}

interface SettledRow extends Verdict {
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
  readonly subjectGeneration: string | null;
  readonly actorGeneration: string | null;
}

interface SettledLoginRow extends Verdict {
  readonly subjectUserId: string | null;
  readonly subjectGeneration: string | null;
  readonly isOpened: boolean;
}

/** Each turn is a lock, of which a server has room for `max_locks_per_transaction` (64) a connection on average. */
const MOST_TURNS = 32;

const settleFor = preparedConsumption<Settlement, SettledRow>('exchange_settle', settle);
const settleLoginsFor = preparedConsumption<LoginAtTurn, SettledLoginRow>('login_settle', settleLogins);

/** Of users who are being made: the default of the column. */
const NEW_GENERATION = '0';

@Injectable()
export class SettlementRepository extends Settlements {
  private readonly settlements: ConsumptionBatch<Settlement, SettledRow>;
  private readonly newcomers: Batch<PreparedNewcomer, boolean>;
  private readonly logins: ConsumptionBatch<LoginSettlement, SettledLoginRow>;

  constructor(dataSource: DataSource) {
    super();
    this.newcomers = PROVISION.on(dataSource);
    this.logins = new ConsumptionBatch(
      (consumption) => runLogins(dataSource, consumption),
      limitsOf(dataSource).waitMs,
      MOST_TURNS,
    );
    this.settlements = new ConsumptionBatch(
      (consumption) => settleFor(consumption).run(dataSource, consumption),
      limitsOf(dataSource).waitMs,
    );
  }

  async settle(settlement: Settlement): Promise<Settled> {
    const { subjectUserId, actorUserId, subjectGeneration, actorGeneration } =
      await this.settlements.consume(settlement);
    if (subjectUserId === null) return { isSettled: false };
    const users = {
      subjectUserId,
      actorUserId: actorUserId ?? undefined,
      subjectGeneration: subjectGeneration ?? undefined,
      actorGeneration: actorGeneration ?? undefined,
    };
    return { isSettled: true, users };
  }

  override async provision(newcomer: Newcomer): Promise<Provisioned | undefined> {
    const { userId, events, ...rest } = prepared(newcomer);
    try {
      return (await this.newcomers.add({ userId, events, ...rest }))
        ? { userId, accessGeneration: NEW_GENERATION, events }
        : undefined;
    } catch (error) {
      if (isDivisionByZero(error) || isDeadlock(error)) return undefined;
      throw error;
    }
  }

  override async settleLogin(login: LoginSettlement): Promise<SettledLogin> {
    const { subjectUserId, subjectGeneration, isOpened } = await this.logins.consume(login);
    if (subjectUserId === null) return { isSettled: false, isOpened: false };
    const users = { subjectUserId, subjectGeneration: subjectGeneration ?? undefined };
    return { isSettled: true, users, isOpened };
  }
}

/** The statement that counts sessions begins once its transaction has the users' turns. */
function runLogins(
  dataSource: DataSource,
  consumption: Consumption<LoginSettlement>,
): Promise<SettledLoginRow[]> {
  const { requests } = consumption;
  return runTogether(dataSource, async (ask) => {
    const turns = await ask(
      TAKE_TURNS,
      requests.map(({ subject }) => subject),
    );
    const atTurn = requests.map((login, index) => ({ ...login, turnOf: turns[index]?.userId ?? null }));
    const settling = { ...consumption, requests: atTurn };
    return ask(settleLoginsFor(settling), settling);
  });
}

function partiesOf({ subject, actor }: Parties, request: number): Party[] {
  const party = { request, isActor: false, user: subject };
  return actor === undefined ? [party] : [party, { request, isActor: true, user: actor }];
}
