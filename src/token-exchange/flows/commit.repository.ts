// The commit statement: one for all requests of the moment, which commits alone. It contains no rule about users. Which of its
// requests gets a `jti` that they share is decided in replay/token-use.ts.
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { EventTable } from '../audit/event-table.js';
import { EventTableTrail } from '../audit/event-table.js';
import { Batch } from '../../platform/database/batch.js';
import { Database } from '../../platform/database/database.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { givenRows, identifier, parameter, sql } from '../../platform/database/sql.js';
import type { NewSession } from '../host/session-opener.js';
import type { ExternalIdentity } from '../host/users.js';
import type { AskedId, TokenUse } from '../replay/token-use.js';
import { shareOut } from '../replay/token-use.js';
import { keysOfLogin, recordedKeys } from '../revocation/external-login.js';
import type { TokenExchangeOptions, UserTable } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { PerToken } from '../verify/tokens.js';

/** A user that a request was decided on: link and version must still stand. */
export interface DecidedUser {
  readonly identity: ExternalIdentity;
  readonly userId: string;
  readonly version: string;
  /**
   * The digest of the link, if the token has the claim of projects: it proves that the memberships from the claim are unchanged.
   */
  readonly projectsDigest?: string | null;
}

/** What is written if the decision still holds. */
export interface DecidedRequest {
  readonly users: PerToken<DecidedUser>;
  /** Undefined for a refusal, of which nothing is written here. */
  readonly event?: AuditEvent;
  /** Of a login. */
  readonly session?: NewSession;
}

/** One request: the tokens that it uses up, and what is decided; undefined where that takes a transaction. */
export interface CommitRequest {
  readonly uses: readonly TokenUse[];
  readonly decided: DecidedRequest | undefined;
}

/** But for `committed`, the tokens are used up and nothing else has happened. `committed` confirms a refusal too. */
export type CommitOutcome = 'committed' | 'changed' | 'replayed';

interface Statement {
  readonly asked: readonly AskedId[];
  readonly decided: readonly DecidedRow[];
}

interface DecidedRow {
  /** As of an `AskedId`. */
  readonly request: number;
  readonly decision: DecidedRequest;
}

interface CommitRow {
  readonly request: number;
  readonly isCurrent: boolean;
}

type CommitStatement = PreparedStatement<Statement, CommitRow>;

@Injectable()
export class CommitRepository {
  private readonly exchanges: Batch<CommitRequest, CommitOutcome>;
  private readonly logins: Batch<CommitRequest, CommitOutcome>;
  /** Whether it writes more than replay records; else every request takes a transaction. */
  readonly writesEvents: boolean;

  constructor(
    private readonly database: Database,
    trail: AuditTrail,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { userTable }: Pick<TokenExchangeOptions, 'userTable'>,
  ) {
    const tables = userTable && trail instanceof EventTableTrail && { users: userTable, events: trail.table };
    this.writesEvents = Boolean(tables);
    const [exchanges, logins] = tables ? commitStatements(tables) : [USE_UP, USE_UP];
    this.exchanges = this.batchOf(exchanges);
    this.logins = this.batchOf(logins);
  }

  /**
   * Uses up the tokens of a request in every case. Where all of them are new, and link and version of its users are as they were decided
   * on, it also writes the event, and the session of a login. A login that is refused has none, and goes with the exchanges.
   */
  commit(request: CommitRequest): Promise<CommitOutcome> {
    const isLogin = request.decided?.session !== undefined;
    return (isLogin ? this.logins : this.exchanges).add(request);
  }

  private batchOf(statement: CommitStatement): Batch<CommitRequest, CommitOutcome> {
    const run = (requests: readonly CommitRequest[]) => this.run(statement, requests);
    return new Batch(run, this.database.waitMs);
  }

  private async run(
    statement: CommitStatement,
    requests: readonly CommitRequest[],
  ): Promise<CommitOutcome[]> {
    const { asked, replayed } = shareOut(requests.map(({ uses }) => uses));
    const decided = requests.flatMap(({ decided: decision }, request) =>
      decision === undefined || replayed.has(request) ? [] : [{ request, decision }],
    );
    const rows = await statement.run(this.database.dataSource, { asked, decided });
    const accepted = new Map(rows.map(({ request, isCurrent }) => [request, isCurrent]));
    return requests.map((_, request) => {
      const isCurrent = replayed.has(request) ? undefined : accepted.get(request);
      if (isCurrent === undefined) return 'replayed';
      return isCurrent ? 'committed' : 'changed';
    });
  }
}

/**
 * Ends in `accepted (request)`: the requests whose tokens are all new. The primary key decides between
 * statements, token-use.ts within one.
 * @rule 5.2.5 = 8.14 A jti is accepted once.
 * @rule D3 A statement that commits alone uses up all tokens of a request, also of one that is refused.
 */
const USED: Sql<Statement> = sql`asked AS (
    SELECT hash, exp, request FROM ${givenRows('asked', ({ asked }: Statement) => asked, {
      hash: ['uuid', ({ hash }) => hash],
      exp: ['float8', ({ exp }) => exp],
      request: ['integer', ({ request }) => request],
    })}
  ), used AS (
    INSERT INTO token_exchange_used_jti (jti_hash, expires_at) SELECT hash, to_timestamp(exp) FROM asked
    ON CONFLICT DO NOTHING RETURNING jti_hash
  ), accepted AS (
    SELECT asked.request FROM asked LEFT JOIN used ON used.jti_hash = asked.hash
    GROUP BY asked.request HAVING every(used.jti_hash IS NOT NULL)
  )`;

/** For a host that has not named its table of users. */
const USE_UP: CommitStatement = new PreparedStatement(
  'jti_commit',
  sql<Statement>`WITH ${USED} SELECT request, false AS "isCurrent" FROM accepted`,
);

/** The additions for a login. */
const SESSIONS = {
  columns: sql`,
      id_hash text, family_id uuid, created_at float8, expires_at float8, login_origin text, vouched_by jsonb, access_generation text,
      login_subject text, login_session text, login_issued_at float8`,
  insertion: sql`, opened AS (
    INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at, login_origin, vouched_by, access_generation,
      login_subject, login_session, login_issued_at)
    SELECT decode(id_hash, 'hex'), subject_user_id, family_id, to_timestamp(created_at), to_timestamp(expires_at), login_origin,
      vouched_by, access_generation, login_subject, login_session, login_issued_at
    FROM current
  )`,
};

/** What the statement crosses besides the tables of this package. */
interface CrossedTables {
  readonly users: UserTable;
  readonly events: EventTable;
}

/** Of exchanges, and of logins. */
export function commitStatements(tables: CrossedTables): [CommitStatement, CommitStatement] {
  return [commitOf('exchange_commit', tables), commitOf('login_commit', tables, SESSIONS)];
}

/** At READ COMMITTED a disable may commit beside it. The session or token then carries the earlier generation, and each use is refused. */
function commitOf(
  name: string,
  { users, events }: CrossedTables,
  sessions = { columns: sql``, insertion: sql`` },
): CommitStatement {
  const idType = identifier(users.idType);
  const stands = (role: Sql) => sql`(
      SELECT true FROM token_exchange_identity_link AS link
        JOIN ${identifier(users.name)} AS account ON account.${identifier(users.columns.id)} = ${role}_user_id
      WHERE link.issuer = ${role}_issuer AND link.subject = ${role}_sub AND link.user_id::text = ${role}_user_id::text
        AND account.${identifier(users.columns.version)}::text = ${role}_version
        AND (${role}_projects IS NULL OR ${role}_projects = link.projects_digest)
    )`;
  const decided = parameter('json', ({ decided: rows }: Statement) =>
    JSON.stringify(rows.map(rowOf(events))),
  );
  return new PreparedStatement(
    name,
    sql<Statement>`WITH ${USED}, decided AS (
    SELECT * FROM json_to_recordset(${decided}) AS decided (request integer,
      subject_issuer text, subject_sub text, subject_user_id ${idType}, subject_version text, subject_projects text,
      actor_issuer text, actor_sub text, actor_user_id ${idType}, actor_version text, actor_projects text, ${events.columns}${sessions.columns})
  ), current AS (
    SELECT decided.* FROM accepted JOIN decided USING (request)
    WHERE ${stands(sql`subject`)}
      AND (actor_user_id IS NULL OR ${stands(sql`actor`)})
  ), recorded AS (
    ${events.insertionFrom(sql`current WHERE name IS NOT NULL`)}
  )${sessions.insertion}
  SELECT accepted.request, current.request IS NOT NULL AS "isCurrent"
  FROM accepted LEFT JOIN current ON current.request = accepted.request`,
  );
}

/** Member by member: a copy by `...` takes as long as all the rest of it. */
function rowOf(events: EventTable) {
  return ({ request, decision: { users, event, session } }: DecidedRow) => {
    const { subject, actor } = users;
    const row: Record<string, unknown> = event === undefined ? {} : events.rowOf(event);
    row['request'] = request;
    row['subject_issuer'] = subject.identity.issuer;
    row['subject_sub'] = subject.identity.subject;
    row['subject_user_id'] = subject.userId;
    row['subject_version'] = subject.version;
    row['subject_projects'] = subject.projectsDigest;
    if (actor !== undefined) {
      row['actor_issuer'] = actor.identity.issuer;
      row['actor_sub'] = actor.identity.subject;
      row['actor_user_id'] = actor.userId;
      row['actor_version'] = actor.version;
      row['actor_projects'] = actor.projectsDigest;
    }
    if (session !== undefined) Object.assign(row, sessionRowOf(session));
    return row;
  };
}

function sessionRowOf(session: NewSession): Record<string, unknown> {
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
  };
}
