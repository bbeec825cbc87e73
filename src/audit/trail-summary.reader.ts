// Reads refusals of the audit trail, and counts what has happened in it, at a cost that does not grow with its length.
import { OUTCOME_EVENTS, REFUSAL_EVENTS } from './instance-events.js';
import { Inject, Injectable } from '@nestjs/common';
import { OPERATOR_DATABASE } from '../platform/database/database.module.js';
import { Database } from '../platform/database/database.js';
import type { IdRange, TrailPage } from './audit-trail.reader.js';
import { idsOf, lookAlong } from './audit-trail.reader.js';
import { PersonHashes } from './person-hashes.js';
import type { LookedRow } from './trail-statements.sql.js';

/** A part of time with both its ends. */
export interface BoundedRange {
  readonly since: Date;
  /** Not included, unless the range is open. */
  readonly until: Date;
  /** Whether what happened at `until` or later belongs to it: it means now, and clocks of instances differ. */
  readonly isOpen: boolean;
}

/** Into what a range is cut, from its beginning on; what comes after the last part counts in it. */
export interface RangeParts {
  readonly seconds: number;
  readonly number: number;
}

/** A refusal must match all given members. */
export interface RefusalFilter {
  readonly person?: RefusalPerson;
  readonly issuer?: string;
  readonly kid?: string;
  readonly reason?: string;
  /** One of the events of refusals. */
  readonly event?: string;
}

/** Refusals of one reason, issuer and key. */
export interface RefusalGroup {
  readonly event: string;
  readonly reason: string | null;
  readonly issuer: string | null;
  readonly kid: string | null;
  readonly count: number;
  readonly oldestAt: Date;
  readonly newestAt: Date;
}

interface RefusalGroups extends Counted {
  /** The one with the newest refusal first. */
  readonly groups: readonly RefusalGroup[];
}

/** A user, or a person known only from tokens. */
export interface RefusalPerson {
  readonly userId?: string;
  /** An e-mail address or a `sub` each. */
  readonly names: readonly string[];
}

interface RefusalQuery {
  readonly filter: RefusalFilter;
  readonly range: BoundedRange;
  /** Only what is older than the event of this id. */
  readonly beforeId?: string;
  /** So many at most. */
  readonly limit: number;
}

/** Events that were counted together. */
export interface EventCount {
  /** Of the table of names; null for all others. */
  readonly name: string | null;
  /** Which part of the range, from 0 on; null where it lies outside. */
  readonly bucket: number | null;
  readonly issuer: string | null;
  readonly reason: string | null;
  readonly count: number;
  /** The oldest of them. */
  readonly oldestId: string;
  readonly oldestAt: Date;
}

export interface EventCounts extends Counted {
  readonly counts: readonly EventCount[];
}

/** How far a count has come. */
export interface Counted {
  readonly readEvents: number;
  /** From when on everything was counted; the beginning of the range where all of it was. */
  readonly countedSince: Date;
  readonly isComplete: boolean;
}

/** So many rows one statement looks at: the embedded database reads them on the main thread. */
const DEPTH = 5_000;
/** So many at most for one answer. */
const MOST_ROWS = 50_000;

/** Of the rows `e`, with $4 to $9. */
const IS_SOUGHT = `(e.name = ANY ($4) AND e.occurred_at >= $5 AND ($6::timestamptz IS NULL OR e.occurred_at < $6)
        AND ($7::text IS NULL OR e.payload->>'issuer' = $7)
        AND ($8::text IS NULL OR e.payload->>'reason' = $8)
        AND ($9::text IS NULL OR e.payload->>'kid' = $9)) IS TRUE`;

/** All rows; and those of a person, by the index of subjects and by that of persons. */
const AMONG_ALL = 'SELECT * FROM audit_event WHERE id BETWEEN $1 AND $2';
const OF_PERSON = `SELECT * FROM (
      (SELECT * FROM audit_event WHERE (subject_user_id, id) >= ($10::uuid, $1) AND (subject_user_id, id) <= ($10::uuid, $2)
        ORDER BY subject_user_id DESC, id DESC LIMIT $3)
      UNION
      (SELECT * FROM audit_event WHERE person_hashes && $11::bytea[] AND id BETWEEN $1 AND $2 ORDER BY id DESC LIMIT $3)
    ) either`;

const find = (rows: string, limit: string) => `SELECT looked.* FROM (
    SELECT e.id, e.name AS event, e.occurred_at AS "occurredAt", e.request_id AS "requestId",
      e.client_request_id AS "clientRequestId", e.subject_user_id AS "subjectUserId", e.actor_user_id AS "actorUserId", e.payload,
      ${IS_SOUGHT} AS "isFound", row_number() OVER (ORDER BY e.id DESC) = $3 AS "isEnd"
    FROM (${rows} ORDER BY id DESC LIMIT $3) e
  ) looked WHERE looked."isFound" OR looked."isEnd" ORDER BY looked.id DESC LIMIT ${limit}`;

const FIND_AMONG_ALL = find(AMONG_ALL, '$10');
const FIND_OF_PERSON = find(OF_PERSON, '$12');

/** Columns that are not asked for are counted together, with nulls. */
const group = (
  rows: string,
) => `SELECT event, reason, issuer, kid, count(*)::int AS count, min(id)::text AS "oldestId",
    min(occurred_at) AS "oldestAt", max(occurred_at) AS "newestAt"
  FROM (
    SELECT e.id, e.occurred_at, CASE WHEN sought.is THEN e.name END AS event,
      CASE WHEN sought.is THEN e.payload->>'reason' END AS reason,
      CASE WHEN sought.is THEN e.payload->>'issuer' END AS issuer,
      CASE WHEN sought.is THEN e.payload->>'kid' END AS kid
    FROM (${rows} ORDER BY id DESC LIMIT $3) e CROSS JOIN LATERAL (SELECT ${IS_SOUGHT} AS is) sought
  ) looked GROUP BY event, reason, issuer, kid`;

const GROUP_AMONG_ALL = group(AMONG_ALL);
const GROUP_OF_PERSON = group(OF_PERSON);

const COUNT = `SELECT name, bucket, issuer, reason, count(*)::int AS count, min(id)::text AS "oldestId",
    min(occurred_at) AS "oldestAt"
  FROM (
    SELECT e.id, e.occurred_at,
      CASE WHEN e.name = ANY ($4) THEN e.name END AS name,
      CASE WHEN e.occurred_at >= $5 AND ($6::timestamptz IS NULL OR e.occurred_at < $6)
        THEN least(floor(extract(epoch FROM e.occurred_at - $5) / $7::float8), $8::int - 1)::int END AS bucket,
      CASE WHEN e.name = ANY ($4) THEN e.payload->>'issuer' END AS issuer,
      CASE WHEN e.name = ANY ($4) THEN e.payload->>'reason' END AS reason
    FROM (SELECT * FROM audit_event WHERE id BETWEEN $1 AND $2 ORDER BY id DESC LIMIT $3) e
  ) looked GROUP BY name, bucket, issuer, reason`;

type GroupRow = Omit<RefusalGroup, 'event'> &
  Pick<EventCount, 'oldestId'> & { readonly event: string | null };

/**
 * @rule D112 What the operator's page asks of the trail looks at 50,000 events at most, the newest of the time asked for, and the
 * answer says how far that has come.
 */
@Injectable()
export class TrailSummaryReader {
  constructor(
    @Inject(OPERATOR_DATABASE) private readonly database: Database,
    private readonly persons: PersonHashes,
  ) {}

  /** A user with the e-mail address and the `sub`s by which tokens name them. */
  async userAsPerson({ id, email }: { readonly id: string; readonly email: string }): Promise<RefusalPerson> {
    const links = await this.database.query<{ subject: string }>(
      'SELECT subject FROM token_exchange_identity_link WHERE user_id = $1 LIMIT 100',
      [id],
    );
    return { userId: id, names: [email, ...links.map(({ subject }) => subject)] };
  }

  /** The newest first. */
  async refusals({ filter, range, beforeId, limit }: RefusalQuery): Promise<TrailPage> {
    const ids = await this.idsOf(range);
    const last = beforeId === undefined || BigInt(beforeId) > ids.last ? ids.last : BigInt(beforeId) - 1n;
    const statement = filter.person === undefined ? FIND_AMONG_ALL : FIND_OF_PERSON;
    const look = (some: IdRange, most: number) =>
      this.database.query<LookedRow>(statement, [
        ...sought(filter, range, some),
        ...this.personIn(filter),
        most,
      ]);
    const bounds = { order: 'newest', limit, statement: DEPTH, page: MOST_ROWS } as const;
    return lookAlong(look, { ...ids, last }, bounds);
  }

  async count(range: BoundedRange, parts: RangeParts): Promise<EventCounts> {
    const { rows, ...counted } = await this.gather(range, (ids) => this.countSome(range, ids, parts));
    return { counts: rows.filter(({ name, bucket }) => name !== null && bucket !== null), ...counted };
  }

  async groups(filter: RefusalFilter, range: BoundedRange): Promise<RefusalGroups> {
    const statement = filter.person === undefined ? GROUP_AMONG_ALL : GROUP_OF_PERSON;
    const { rows, ...counted } = await this.gather(range, (ids) =>
      this.database.query<GroupRow>(statement, [...sought(filter, range, ids), ...this.personIn(filter)]),
    );
    const groups = new Map<string, RefusalGroup>();
    for (const { oldestId: _, ...row } of rows) {
      if (row.event === null) continue;
      const key = JSON.stringify([row.event, row.reason, row.issuer, row.kid]);
      const known = groups.get(key);
      // Rows come from the newest on: what is known already is newer.
      const { count = 0, newestAt = row.newestAt } = known ?? {};
      groups.set(key, { ...row, event: row.event, count: count + row.count, newestAt });
    }
    const newestFirst = [...groups.values()].sort((a, b) => b.newestAt.getTime() - a.newestAt.getTime());
    return { groups: newestFirst, ...counted };
  }

  /** Counts rows from the newest on, look by look, up to so many as one answer may read. */
  private async gather<Row extends Pick<EventCount, 'count' | 'oldestId' | 'oldestAt'>>(
    range: BoundedRange,
    look: (ids: IdRange) => Promise<Row[]>,
  ): Promise<Counted & { readonly rows: readonly Row[] }> {
    const { first, last: newest } = await this.idsOf(range);
    let last = newest;
    const rows: Row[] = [];
    let readEvents = 0;
    let countedSince = range.until;
    while (readEvents < MOST_ROWS) {
      const looked = await look({ first, last });
      const read = looked.reduce((sum, { count }) => sum + count, 0);
      rows.push(...looked);
      readEvents += read;
      for (const { oldestAt } of looked) if (oldestAt < countedSince) countedSince = oldestAt;
      if (read < DEPTH) return { rows, readEvents, countedSince: range.since, isComplete: true };
      last = looked.map(({ oldestId }) => BigInt(oldestId)).reduce((a, b) => (a < b ? a : b)) - 1n;
    }
    return { rows, readEvents, countedSince, isComplete: false };
  }

  /** The parameters of a person; none where none is sought. */
  private personIn({ person }: RefusalFilter): unknown[] {
    if (person === undefined) return [];
    return [person.userId ?? null, person.names.flatMap((name) => this.persons.sought(name))];
  }

  private countSome(
    range: BoundedRange,
    { first, last }: IdRange,
    { seconds, number }: RangeParts,
  ): Promise<EventCount[]> {
    return this.database.query<EventCount>(COUNT, [
      ...[String(first), String(last), DEPTH, OUTCOME_EVENTS],
      ...[range.since, endOf(range), seconds, number],
    ]);
  }

  private idsOf({ since, until, isOpen }: BoundedRange): Promise<IdRange> {
    return idsOf({ since, ...(!isOpen && { until }) }, this.database);
  }
}

function endOf({ until, isOpen }: BoundedRange): Date | null {
  return isOpen ? null : until;
}

/** The parameters $1 to $9. */
function sought(
  { issuer, kid, reason, event }: RefusalFilter,
  range: BoundedRange,
  { first, last }: IdRange,
): unknown[] {
  return [
    ...[String(first), String(last), DEPTH, event === undefined ? REFUSAL_EVENTS : [event]],
    ...[range.since, endOf(range), issuer ?? null, reason ?? null, kid ?? null],
  ];
}
