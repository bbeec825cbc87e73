// The SQL that opens sessions for many logins together: whose turn it is, and who has room for one more.
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { givenRows, sql } from '../../platform/database/sql.js';
import type { LoginSettlement } from '../host/settlements.js';
import type { ExternalIdentity } from '../host/users.js';
import { recordedKeys } from '../revocation/vouching-key.js';

/** A login that was asked whether its user's turn can be had. */
export interface LoginAtTurn extends LoginSettlement {
  /** The user whose turn this transaction has; null where another one has it, or the identity is linked to nobody. */
  readonly turnOf: string | null;
}

interface Turn {
  readonly userId: string | null;
}

const ASKED = givenRows(
  'asked',
  (identities: readonly ExternalIdentity[]) => identities,
  { issuer: ['text', ({ issuer }) => issuer], subject: ['text', ({ subject }) => subject] },
  'position',
);

/**
 * Takes the turns of users until the transaction ends, as `SessionRepository.insert` does, but waits for none: so nobody can
 * wait in a ring, in whatever order several users' turns are taken, and no login is held up by those of another user. It has to be
 * a statement before the one that counts sessions: what is committed while a statement runs it does not see.
 */
export const TAKE_TURNS = new PreparedStatement<readonly ExternalIdentity[], Turn>(
  'session_take_turns',
  sql`SELECT CASE WHEN pg_try_advisory_xact_lock(hashtext('token_exchange_session'), hashtext(link.user_id::text))
      THEN link.user_id::text END AS "userId"
    FROM ${ASKED} LEFT JOIN LATERAL (
      SELECT user_id FROM token_exchange_identity_link
      WHERE token_exchange_identity_link.issuer = asked.issuer AND token_exchange_identity_link.subject = asked.subject LIMIT 1
    ) link ON true ORDER BY asked.position`,
);

/**
 * The clauses that open sessions, for a statement that has taken turns before. They end in `opening (request, subject_user_id,
 * actor_user_id)`: the requests whose sessions are opened.
 * None is opened that would be one too many (D104): its login ends the oldest in a transaction of its own.
 * @param loginsOf the logins that share the statement
 * @param settled names the relation of the statement that knows the user of each `request`, by its index
 */
export function openingClauses<Input>(
  loginsOf: (input: Input) => readonly LoginAtTurn[],
  settled: Sql,
): Sql<Input> {
  const rows = (input: Input) => loginsOf(input).map((login, request) => ({ ...login, request }));
  const session = givenRows('session', rows, {
    request: ['integer', ({ request }) => request],
    turn_of: ['text', ({ turnOf }) => turnOf],
    at_most: ['integer', ({ maxSessionsPerUser }) => maxSessionsPerUser],
    id_hash: ['bytea', ({ session: { idHash } }) => idHash],
    family_id: ['uuid', ({ session: { familyId } }) => familyId],
    created_at: ['float8', ({ session: { createdAt } }) => createdAt.getTime() / 1000],
    expires_at: ['float8', ({ session: { expiresAt } }) => expiresAt.getTime() / 1000],
    login_origin: ['text', ({ session: { loginOrigin } }) => loginOrigin],
    vouched_by: ['jsonb', ({ session: { vouchedBy } }) => JSON.stringify(recordedKeys(vouchedBy))],
  });
  return sql`opening AS MATERIALIZED (
      SELECT * FROM (
        SELECT session.*, ${settled}.subject_user_id, ${settled}.actor_user_id, ${settled}.subject_generation,
          row_number() OVER (PARTITION BY ${settled}.subject_user_id ORDER BY session.request) AS place
        FROM ${session} JOIN ${settled} ON ${settled}.request = session.request
        WHERE ${settled}.subject_user_id::text = session.turn_of
      ) AS ready
      WHERE place + (
        SELECT count(*) FROM token_exchange_session AS live
        WHERE live.user_id = ready.subject_user_id AND live.expires_at > to_timestamp(ready.created_at)
      ) <= at_most
    ), opened AS (
      INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at, login_origin, vouched_by,
        access_generation)
      SELECT id_hash, subject_user_id, family_id, to_timestamp(created_at), to_timestamp(expires_at), login_origin, vouched_by,
        subject_generation
      FROM opening
    )`;
}
