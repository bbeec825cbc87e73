// The database's part of an exchange, for all requests that wait at the same moment by one prepared statement.
import { hash } from 'node:crypto';
import pg from 'pg';
import { arrayLiteral } from './array-literal.mjs';
import { Batches } from './batches.mjs';

/**
 * One statement is one transaction: replay record and audit row are committed together, before the answer. A token id
 * that was used before inserts no row, so it finds no user; nothing else of its batch is touched. LIMIT 1 keeps the
 * planner at one index look-up a row, whatever it believes about the tables.
 */
const STATEMENT = {
  name: 'exchange',
  rowMode: 'array',
  text: `WITH request AS MATERIALIZED (
      SELECT * FROM unnest($1::bytea[], $2::float8[], $3::text[], $4::text[], $5::text[], $6::jsonb[])
        AS request (jti_hash, expires_at, issuer, subject, request_id, payload)
    ), used AS (
      INSERT INTO used_jti (jti_hash, expires_at) SELECT jti_hash, to_timestamp(expires_at) FROM request
      ON CONFLICT DO NOTHING RETURNING jti_hash
    ), found AS MATERIALIZED (
      SELECT request.jti_hash, request.request_id, request.payload, account.id
      FROM request JOIN used USING (jti_hash)
      CROSS JOIN LATERAL (
        SELECT user_id FROM identity_link WHERE issuer = request.issuer AND subject = request.subject LIMIT 1
      ) link
      CROSS JOIN LATERAL (SELECT id FROM user_account WHERE id = link.user_id AND enabled LIMIT 1) account
    ), told AS (
      INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload)
      SELECT 'svc.audit.token-exchange.succeeded', now(), request_id, id, payload FROM found
    )
    SELECT encode(jti_hash, 'hex'), id FROM found`,
};

export class BatchedExchanges {
  /** Opens the connections; they stay open. */
  static async connect(databaseUrl) {
    const exchanges = new BatchedExchanges();
    exchanges.batches = await Batches.connect(pg, databaseUrl, (client, requests) =>
      carryOut(client, requests),
    );
    return exchanges;
  }

  /** Uses the token up and writes the audit row. Answers the user's id; undefined when the exchange is refused. */
  carryOut({ subject: { claims, kid }, tokenId, lifetimeSeconds, requestId }) {
    const { iss, sub, jti, exp } = claims;
    const payload = JSON.stringify({ issuer: iss, kid, accessTokenId: tokenId, lifetimeSeconds });
    return this.batches.add({ jtiHash: hash('sha256', jti, 'hex'), exp, iss, sub, requestId, payload });
  }
}

async function carryOut(client, requests) {
  // Of two requests with one token the first alone goes on.
  const byHash = new Map();
  for (const request of requests) if (!byHash.has(request.jtiHash)) byHash.set(request.jtiHash, request);
  const rows = [...byHash.values()];
  const values = [
    arrayLiteral(rows.map(({ jtiHash }) => `\\x${jtiHash}`)),
    `{${rows.map(({ exp }) => exp).join(',')}}`,
    arrayLiteral(rows.map(({ iss }) => iss)),
    arrayLiteral(rows.map(({ sub }) => sub)),
    arrayLiteral(rows.map(({ requestId }) => requestId)),
    arrayLiteral(rows.map(({ payload }) => payload)),
  ];
  const { rows: found } = await client.query({ ...STATEMENT, values });
  const users = new Map(found);
  return requests.map((request) =>
    byHash.get(request.jtiHash) === request ? users.get(request.jtiHash) : undefined,
  );
}
