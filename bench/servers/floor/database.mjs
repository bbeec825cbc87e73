// The database's part of an exchange and of an API call, for all requests that wait at the same moment by one prepared
// statement. It is one transaction: all of it is committed before the answer.
import { hash } from 'node:crypto';
import { Batches } from './batches.mjs';

/**
 * Replay record and audit row are committed together. A token id that was used before inserts no row, so it finds no
 * user; nothing else of its batch is touched. LIMIT 1 keeps the planner at one index look-up a row, whatever it
 * believes about the tables.
 */
const EXCHANGE = {
  name: 'exchange',
  rowMode: 'array',
  text: `WITH request AS MATERIALIZED (
      SELECT * FROM unnest($1::bytea[], $2::float8[], $3::text[], $4::text[], $5::text[], $6::jsonb[])
        AS request (jti_hash, expires_at, issuer, subject, request_id, payload)
    ), used AS (
      INSERT INTO token_exchange_used_jti (jti_hash, expires_at) SELECT jti_hash, to_timestamp(expires_at) FROM request
      ON CONFLICT DO NOTHING RETURNING jti_hash
    ), found AS MATERIALIZED (
      SELECT request.jti_hash, request.request_id, request.payload, account.id
      FROM request JOIN used USING (jti_hash)
      CROSS JOIN LATERAL (
        SELECT user_id FROM token_exchange_identity_link WHERE issuer = request.issuer AND subject = request.subject LIMIT 1
      ) link
      CROSS JOIN LATERAL (SELECT id FROM user_account WHERE id = link.user_id AND enabled LIMIT 1) account
    ), told AS (
      INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload)
      SELECT 'svc.audit.token-exchange.succeeded', now(), request_id, id, payload FROM found
    )
    SELECT encode(jti_hash, 'hex'), id FROM found`,
};
/** The audit row, and the user's present state. */
const CALL = {
  name: 'call',
  rowMode: 'array',
  text: `WITH call AS MATERIALIZED (
      SELECT * FROM unnest($1::uuid[], $2::text[], $3::jsonb[]) WITH ORDINALITY
        AS call (user_id, request_id, payload, position)
    ), told AS (
      INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload)
      SELECT 'svc.audit.api.called', now(), request_id, user_id, payload FROM call
    )
    SELECT call.position::int, account.role FROM call
    CROSS JOIN LATERAL (SELECT role FROM user_account WHERE id = call.user_id AND enabled LIMIT 1) account`,
};

export class Database {
  /** Opens the connections; they stay open. */
  static async connect(databaseUrl) {
    const database = new Database();
    database.exchanges = await Batches.connect(databaseUrl, exchangeAll);
    database.calls = await Batches.connect(databaseUrl, callAll);
    return database;
  }

  /** Uses the token up and writes the audit row. Answers the user's id; undefined when the exchange is refused. */
  exchange({ subject: { claims, kid }, tokenId, lifetimeSeconds, requestId }) {
    const { iss, sub, jti, exp } = claims;
    const payload = JSON.stringify({ issuer: iss, kid, accessTokenId: tokenId, lifetimeSeconds });
    return this.exchanges.add({ jtiHash: hash('sha256', jti, 'hex'), exp, iss, sub, requestId, payload });
  }

  /** Writes the audit row and answers the user's role; undefined for a user who is gone or disabled. */
  call({ userId, tokenId, requestId, method, route }) {
    const payload = JSON.stringify({ method, route, things: {}, accessTokenId: tokenId });
    return this.calls.add({ userId, requestId, payload });
  }
}

async function exchangeAll(client, requests) {
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
  const { rows: found } = await client.query({ ...EXCHANGE, values });
  const users = new Map(found);
  return requests.map((request) =>
    byHash.get(request.jtiHash) === request ? users.get(request.jtiHash) : undefined,
  );
}

async function callAll(client, calls) {
  const values = [
    `{${calls.map(({ userId }) => userId).join(',')}}`,
    arrayLiteral(calls.map(({ requestId }) => requestId)),
    arrayLiteral(calls.map(({ payload }) => payload)),
  ];
  const { rows } = await client.query({ ...CALL, values });
  const roles = new Map(rows);
  return calls.map((_, index) => roles.get(index + 1));
}

/** Several times faster than pg's own way, which asks each member for its type. */
function arrayLiteral(texts) {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
