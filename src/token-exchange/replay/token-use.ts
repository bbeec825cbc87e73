// The use of a token, and which request of one statement gets an id that several want.
import { hash } from 'node:crypto';
import type { Sql } from '../../platform/database/sql.js';
import { givenRows, sql } from '../../platform/database/sql.js';

/** The id of a verified token and its expiry, in seconds since the Unix epoch. */
export interface TokenUse {
  readonly jti: string;
  readonly exp: number;
}

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
export interface AskedIds {
  readonly asked: readonly AskedId[];
}

/**
 * Ends in `accepted (request)`: the requests whose tokens are all new. The primary key decides between
 * statements, `shareOut` within one.
 * @rule 5.2.5 = 8.14 A jti is accepted once.
 * @rule D3 A statement that commits alone uses up all tokens of a request, also of one that is refused.
 */
export const usedIds = (source = sql``): Sql<AskedIds> => sql`asked AS (
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
