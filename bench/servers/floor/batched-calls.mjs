// What every API call needs of the database: the audit row, and the user's present state; batched over calls.
import pg from 'pg';
import { arrayLiteral } from './array-literal.mjs';
import { Batches } from './batches.mjs';

const STATEMENT = {
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

export class BatchedCalls {
  static async connect(databaseUrl) {
    const calls = new BatchedCalls();
    calls.batches = await Batches.connect(pg, databaseUrl, carryOut);
    return calls;
  }

  /** Writes the audit row and answers the user's role; undefined for a user who is gone or disabled. */
  carryOut({ userId, tokenId, requestId, method, route }) {
    const payload = JSON.stringify({ method, route, things: {}, accessTokenId: tokenId });
    return this.batches.add({ userId, requestId, payload });
  }
}

async function carryOut(client, calls) {
  const values = [
    `{${calls.map(({ userId }) => userId).join(',')}}`,
    arrayLiteral(calls.map(({ requestId }) => requestId)),
    arrayLiteral(calls.map(({ payload }) => payload)),
  ];
  const { rows } = await client.query({ ...STATEMENT, values });
  const roles = new Map(rows);
  return calls.map((_, index) => roles.get(index + 1));
}
