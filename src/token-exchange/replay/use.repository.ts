// `use`: the statement by which concurrent requests use up their tokens, and read the linked users. It commits by itself, and
// contains no rule about users.
import { hash } from 'node:crypto';
import type { OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Batch, Database } from '../../platform/database/database.js';
import type { Sql } from '../../platform/database/sql.js';
import { givenRows, identifier, nameOn, PreparedStatement, sql } from '../../platform/database/sql.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { ExternalIdentity } from '../host/users.js';
import type { LinkedUser, LinkedUsers } from '../identity/decide.js';
import { identityOf } from '../identity/decide.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { TokenExchangeOptions, UserTable } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { TokenUse } from '../verify/external-claims.js';
import type { PerToken, Tokens } from '../verify/external-token.verifier.js';
import { issuerAndKid, usesOf } from '../verify/external-token.verifier.js';

/** An id to be used up by a statement. */
export interface AskedId {
  /** See `jtiHashOf`. */
  readonly hash: string;
  readonly exp: number;
  /** The index of the request that gets the id, if no earlier statement has used it. */
  readonly request: number;
}

/**
 * The stored form of an id, for a column of type uuid: half of its SHA-256, so that length and characters do not matter. With 128
 * bits no two ids collide by chance. If somebody creates a collision, one of the two is refused.
 * @returns 32 hexadecimal digits
 */
export function jtiHashOf(jti: string): string {
  return hash('sha256', jti, 'hex').slice(0, 32);
}

/**
 * Gives each id to the first request that wants it. A request that misses one is refused as replayed, and uses up the ids that it
 * gets.
 * @rule D2 An id is accepted once over all issuers and flows.
 * @param requests the uses of each request, one or two
 * @returns ids in the order of their hashes, so that two statements never wait for each other
 */
export function shareOut(requests: readonly (readonly TokenUse[])[]): {
  readonly asked: readonly AskedId[];
  readonly replayed: ReadonlySet<number>;
} {
  const asked = new Map<string, AskedId>();
  const replayed = new Set<number>();
  for (const [request, uses] of requests.entries()) {
    for (const { jti, exp } of uses) {
      const jtiHash = jtiHashOf(jti);
      if (asked.has(jtiHash)) replayed.add(request);
      else asked.set(jtiHash, { hash: jtiHash, exp, request });
    }
  }
  const inOrder = [...asked.values()].sort((one, other) => (one.hash < other.hash ? -1 : 1));
  return { asked: inOrder, replayed };
}

/** The input of a statement that uses ids up. */
interface AskedIds {
  readonly asked: readonly AskedId[];
}

/**
 * Ends in `accepted (request)`: the requests whose tokens are all new. The primary key decides between
 * statements, `shareOut` within one.
 * @rule 5.2.5 = 8.14 A jti is accepted once.
 * @rule D3 A statement that commits alone uses up all tokens of a request, also of one that is refused.
 */
const usedIds = (source = sql``): Sql<AskedIds> => sql`asked AS (
    SELECT hash, exp, request FROM ${givenRows('asked', ({ asked }: AskedIds) => asked, {
      hash: ['uuid', ({ hash }) => hash],
      exp: ['float8', ({ exp }) => exp],
      request: ['integer', ({ request }) => request],
    })}${source}
  ), used AS (
    INSERT INTO token_exchange_used_jti (jti_hash, expires_at) SELECT hash, to_timestamp(exp) FROM asked
    ON CONFLICT DO NOTHING RETURNING jti_hash
  ), accepted AS (
    SELECT asked.request FROM asked LEFT JOIN used ON used.jti_hash = asked.hash
    GROUP BY asked.request HAVING every(used.jti_hash IS NOT NULL)
  )`;

/** A request, or a request's DPoP proof. */
export interface UseRequest {
  readonly uses: readonly TokenUse[];
  readonly identities: PerToken<ExternalIdentity>;
}

/** Matches no identity, because no issuer is empty. */
const OF_A_PROOF: UseRequest['identities'] = { subject: { issuer: '', subject: '' } };

/** An identity, with the index of its request as in `AskedId`. */
interface Asker extends ExternalIdentity {
  readonly request: number;
  readonly isActor: boolean;
}

interface Statement extends AskedIds {
  readonly askers: readonly Asker[];
}

/** One row for each identity of an accepted request, with nulls if it is not linked. */
type UseRow = Pick<Asker, 'request' | 'isActor'> & (LinkedUser | Record<keyof LinkedUser, null>);

type UseStatement = PreparedStatement<Statement, UseRow>;

@Injectable()
export class UseRepository implements OnModuleInit {
  private readonly statement: UseStatement;
  private readonly requests: Batch<UseRequest, LinkedUsers | undefined>;

  constructor(
    private readonly database: Database,
    { eventInsertion }: AuditTrail,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { userTable }: Pick<TokenExchangeOptions, 'userTable'>,
  ) {
    this.statement =
      userTable === undefined ? USE_ALONE : useStatement(userTable, eventInsertion !== undefined);
    this.requests = new Batch((requests) => this.run(requests), database.waitMs);
  }

  /**
   * Runs the statement without requests.
   * @throws Error if the table of users is not as the host says, so that the start fails and not the first token
   */
  async onModuleInit(): Promise<void> {
    if (this.statement === USE_ALONE) return;
    try {
      await this.run([]);
    } catch (error) {
      throw new Error(`userTable: ${String(error)}`, { cause: error });
    }
  }

  /**
   * Uses up the tokens of a request, and its DPoP proof. The proof is a separate item in the same statement, so that the refusal
   * can say which of the two was used before.
   * @rule D142 A proof is taken once over all instances at the token endpoint, and a repeated one costs the tokens.
   * @returns the linked users; none if the host has not named its table of users
   * @throws OAuthRefusal `token_replayed`, `dpop_proof_replayed`
   */
  async use(tokens: Tokens): Promise<LinkedUsers> {
    const { subject, actor, proof } = tokens;
    const identities = { subject: identityOf(subject), actor: actor && identityOf(actor) };
    const used = this.requests.add({ uses: usesOf(tokens), identities });
    const proved = proof && this.requests.add({ uses: [proof.use], identities: OF_A_PROOF });
    const [linked, isProofNew] =
      proved === undefined ? [await used, true] : await Promise.all([used, proved]);
    if (linked === undefined) throw replayRefusal(tokens);
    if (isProofNew === undefined) throw new OAuthRefusal('dpop_proof_replayed', issuerAndKid(subject));
    return linked;
  }

  /** Undefined for a request with a token that was used before, or that another of these requests uses. */
  private async run(requests: readonly UseRequest[]): Promise<(LinkedUsers | undefined)[]> {
    const { asked, replayed } = shareOut(requests.map(({ uses }) => uses));
    const askers = requests.flatMap(({ identities }, request) =>
      replayed.has(request) ? [] : askersOf(request, identities),
    );
    const rows = await this.database.run(this.statement, { asked, askers });
    const linked = requests.map((): LinkedUsers | undefined => undefined);
    for (const row of rows) {
      if (replayed.has(row.request)) continue;
      const user = row.id === null ? undefined : row;
      const { subject, actor } = linked[row.request] ?? {};
      linked[row.request] = row.isActor ? { subject, actor: user } : { subject: user, actor };
    }
    return linked;
  }
}

function askersOf(request: number, { subject, actor }: PerToken<ExternalIdentity>): Asker[] {
  const first = { request, isActor: false, ...subject };
  return actor === undefined ? [first] : [first, { request, isActor: true, ...actor }];
}

/** The statement does not say which of two tokens was used before. */
export function replayRefusal({ subject, actor }: Tokens): OAuthRefusal {
  const detail = actor && 'it was the subject token, the actor token, or both';
  return new OAuthRefusal('token_replayed', { detail, ...issuerAndKid(subject) });
}

/**
 * Lets the statement commit without waiting for the disk. Every answer follows the commit of its event, which does wait, and the
 * database writes its log in order. So a crash of the database loses the use of a token only if its request was not answered.
 */
const LEAVES_DISK_TO_EVENT = sql` CROSS JOIN (SELECT set_config('synchronous_commit', 'off', true)) setting`;

/** The statement of a host that has not named its table of users. */
const USE_ALONE: UseStatement = new PreparedStatement(
  'jti_use',
  sql<Statement>`WITH ${usedIds()} SELECT request, false AS "isActor", NULL AS id FROM accepted`,
);

const ASKERS: Sql<Statement> = givenRows('asker', ({ askers }: Statement) => askers, {
  request: ['integer', ({ request }) => request],
  is_actor: ['boolean', ({ isActor }) => isActor],
  issuer: ['text', ({ issuer }) => issuer],
  subject: ['text', ({ subject }) => subject],
});

/**
 * Reads all users in one snapshot: a change that commits afterwards is later than these requests. LATERAL with LIMIT makes the
 * planner use both keys, one after the other, for tables of any size.
 * @param isEventInDatabase whether the event of each request is committed to the same database before its answer
 */
export function useStatement(table: UserTable, isEventInDatabase: boolean): UseStatement {
  const { name, idType, columns } = table;
  const column = (member: keyof UserTable['columns']) => sql`account.${identifier(columns[member])}`;
  return new PreparedStatement(
    nameOn(table, isEventInDatabase ? 'token_use' : 'token_use_alone'),
    sql<Statement>`WITH ${usedIds(isEventInDatabase ? LEAVES_DISK_TO_EVENT : undefined)}
  SELECT accepted.request, asker.is_actor AS "isActor", found.*
  FROM accepted JOIN ${ASKERS} ON asker.request = accepted.request LEFT JOIN LATERAL (
    SELECT ${column('id')}::text AS id, ${column('role')} AS role, ${column('enabled')} AS enabled,
      ${column('givenName')} AS "givenName", ${column('familyName')} AS "familyName",
      ${column('accessGeneration')}::text AS "accessGeneration", link.projects_digest AS "projectsDigest",
      link.by_administrator AS "byAdministrator"
    FROM token_exchange_identity_link AS link
      JOIN ${identifier(name)} AS account ON ${column('id')} = link.user_id::${identifier(idType)}
    WHERE link.issuer = asker.issuer AND link.subject = asker.subject LIMIT 1
  ) found ON true`,
  );
}
