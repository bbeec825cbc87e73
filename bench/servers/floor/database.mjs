// The database's part of an exchange. One prepared statement handles all waiting requests. It is one transaction, which is
// committed before the responses.
import { hash } from 'node:crypto';
import { Client } from 'pg';

/**
 * Replay record and audit row are committed together. A used token id inserts no row, so it finds no user. The other
 * requests of its batch are not affected. LIMIT 1 makes the planner use one index look-up for each row, regardless of its
 * table statistics.
 */
const EXCHANGE = {
  name: 'exchange',
  rowMode: 'array',
  text: `WITH request AS MATERIALIZED (
      SELECT * FROM unnest($1::uuid[], $2::float8[], $3::text[], $4::text[], $5::text[], $6::jsonb[])
        AS request (jti_hash, expires_at, issuer, subject, request_id, payload)
    ), used AS (
      INSERT INTO token_exchange_used_jti (jti_hash, expires_at) SELECT jti_hash, to_timestamp(expires_at) FROM request
      ON CONFLICT DO NOTHING RETURNING jti_hash
    ), found AS MATERIALIZED (
      SELECT request.request_id, request.payload, account.id
      FROM request JOIN used USING (jti_hash)
      CROSS JOIN LATERAL (
        SELECT user_id FROM token_exchange_identity_link WHERE issuer = request.issuer AND subject = request.subject LIMIT 1
      ) link
      CROSS JOIN LATERAL (SELECT id FROM user_account WHERE id = link.user_id AND enabled LIMIT 1) account
    ), told AS (
      INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload)
      SELECT 'svc.audit.token-exchange.succeeded', now(), request_id, id, payload FROM found
    )
    SELECT request_id, id FROM found`,
};

/** One connection is best. More make smaller batches, with 1.4 times the database's CPU time and the same throughput. */
const LARGEST_BATCH = 64;
/** Otherwise PostgreSQL plans each batch again. Reusing plans takes 0.96 of the CPU time, including the database. */
const REUSE_PLANS = '-c plan_cache_mode=force_generic_plan';

export class Database {
  waiting = [];
  isBusy = false;

  /** Opens the connection; it stays open. */
  static async connect(databaseUrl) {
    const database = new Database();
    database.client = new Client({ connectionString: databaseUrl, options: REUSE_PLANS });
    await database.client.connect();
    return database;
  }

  /** Marks the token as used and writes the audit row. Returns the user's id; undefined if the exchange is refused. */
  exchange({ subject: { claims, kid }, tokenId, lifetimeSeconds, requestId }) {
    const { iss, sub, jti, exp } = claims;
    const payload = JSON.stringify({ issuer: iss, kid, accessTokenId: tokenId, lifetimeSeconds });
    const request = { jtiHash: hash('sha256', jti, 'hex').slice(0, 32), exp, iss, sub, requestId, payload };
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      if (!this.isBusy) void this.carryOutAll();
    });
  }

  /** Requests that arrive during a statement share the next one. */
  async carryOutAll() {
    this.isBusy = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, LARGEST_BATCH);
      try {
        const users = await exchangeAll(
          this.client,
          batch.map(({ request }) => request),
        );
        batch.forEach(({ resolve }, index) => resolve(users[index]));
      } catch (error) {
        batch.forEach(({ reject }) => reject(error));
      }
    }
    this.isBusy = false;
  }
}

async function exchangeAll(client, requests) {
  // If several requests have the same token, only the first continues.
  const byHash = new Map(requests.toReversed().map((request) => [request.jtiHash, request]));
  const rows = [...byHash.values()];
  const texts = (name) => arrayLiteral(rows.map((row) => row[name]));
  const values = [
    texts('jtiHash'),
    `{${rows.map(({ exp }) => exp).join(',')}}`,
    ...['iss', 'sub', 'requestId', 'payload'].map(texts),
  ];
  const { rows: found } = await client.query({ ...EXCHANGE, values });
  const users = new Map(found);
  return requests.map((request) =>
    byHash.get(request.jtiHash) === request ? users.get(request.requestId) : undefined,
  );
}

/** Several times faster than pg's conversion, which checks the type of each element. */
function arrayLiteral(texts) {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
