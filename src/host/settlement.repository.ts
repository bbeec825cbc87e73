// All that the database does for exchanges whose users need no change, in one statement for many of them.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { auditInsertion, auditRows } from '../audit/audit-trail.repository.js';
import { runPrepared } from '../database/prepared-statement.js';
import type { LookupParameters, Verdict } from '../token-exchange/consumption/jti-consumption.js';
import { ConsumptionBatch, VERDICT, consumption } from '../token-exchange/consumption/jti-consumption.js';
import type { ExpectedUser, Settled, Settlement } from '../token-exchange/host.js';
import { Settlements } from '../token-exchange/host.js';

/**
 * The only statement across the tables of several modules, which is why it lies above them all: jti, links, users, audit.
 *
 * A user is looked up by the two keys, one after the other (LATERAL with LIMIT), whatever the planner thinks of the sizes.
 * Its measurement: docs/performance.md.
 */
function settle(lookup?: LookupParameters): string {
  return `WITH ${consumption(lookup)}, party AS (
      SELECT * FROM unnest($4::integer[], $5::boolean[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
        AS party (request, is_actor, issuer, subject, given_name, family_name, role)
    ), met AS (
      SELECT party.request, party.is_actor, found.id FROM party LEFT JOIN LATERAL (
        SELECT account.id FROM identity_link link JOIN user_account account ON account.id = link.user_id
        WHERE link.issuer = party.issuer AND link.subject = party.subject AND account.enabled
          AND account.given_name = coalesce(party.given_name, account.given_name)
          AND account.family_name = coalesce(party.family_name, account.family_name)
          AND account.role = coalesce(party.role, account.role)
        LIMIT 1
      ) found ON true
    ), settled AS (
      SELECT met.request, (array_agg(met.id) FILTER (WHERE NOT met.is_actor))[1] AS subject_user_id,
        (array_agg(met.id) FILTER (WHERE met.is_actor))[1] AS actor_user_id
      FROM met JOIN verdict ON verdict.request = met.request AND verdict.is_accepted
      GROUP BY met.request HAVING every(met.id IS NOT NULL)
    ), told AS (
      ${auditInsertion('$11', 'settled')}
    )
    SELECT ${VERDICT},
      settled.subject_user_id AS "subjectUserId", settled.actor_user_id AS "actorUserId"
    FROM verdict LEFT JOIN settled ON settled.request = verdict.request ORDER BY verdict.request`;
}

const SETTLE = { name: 'exchange_settle', text: settle() };
const SETTLE_WHOLE = { name: 'exchange_settle_whole', text: settle(['$12', '$13']) };

interface SettledRow extends Verdict {
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
}

@Injectable()
export class SettlementRepository extends Settlements {
  private readonly settlements = new ConsumptionBatch<Settlement, SettledRow>(
    (requests, { asked, lookedUp = [] }) => {
      const events = auditRows(requests.map((request) => request.events));
      const values = [...asked, ...partyValues(requests), events, ...lookedUp];
      return runPrepared(this.dataSource, lookedUp.length === 0 ? SETTLE : SETTLE_WHOLE, values);
    },
  );

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async settle(settlement: Settlement): Promise<Settled> {
    const { subjectUserId, actorUserId } = await this.settlements.consume(settlement);
    if (subjectUserId === null) return { isSettled: false };
    const users = { subjectUserId, ...(actorUserId === null ? {} : { actorUserId }) };
    return { isSettled: true, users };
  }
}

/** `$4` to `$10`, a row for each party. */
function partyValues(requests: readonly Settlement[]): unknown[] {
  const parties = requests.flatMap(({ subject, actor }, request) => [
    { request, isActor: false, user: subject },
    ...(actor === undefined ? [] : [{ request, isActor: true, user: actor }]),
  ]);
  const column = (name: keyof ExpectedUser) => parties.map(({ user }) => user[name] ?? null);
  return [
    parties.map(({ request }) => request),
    parties.map(({ isActor }) => isActor),
    ...(['issuer', 'subject', 'givenName', 'familyName', 'role'] as const).map(column),
  ];
}
