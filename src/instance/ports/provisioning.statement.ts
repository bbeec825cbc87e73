// All that the database does where a first login makes a user: user, personal project, link and events, for many at once.
import { randomUUID } from 'node:crypto';
import { AUDIT_EVENTS } from '../../audit/audit-trail.repository.js';
import { SharedStatement } from '../../platform/database/shared-statement.js';
import { givenRows, sql } from '../../platform/database/sql.js';
import type { Newcomer } from '../../token-exchange/host/settlements.js';
import { normalizeEmail } from '../../users/email.js';

/** A newcomer with what is made for them. */
export interface PreparedNewcomer extends Pick<Newcomer, 'identity' | 'user'> {
  readonly userId: string;
  readonly projectId: string;
  readonly events: ReturnType<Newcomer['eventsOf']>;
}

type Newcomers = readonly PreparedNewcomer[];

export function prepared({ identity, user, eventsOf }: Newcomer): PreparedNewcomer {
  const userId = randomUUID();
  return { identity, user, userId, projectId: randomUUID(), events: eventsOf(userId) };
}

const NEWCOMER = givenRows(
  'newcomer',
  (newcomers: Newcomers) => newcomers.map((newcomer, request) => ({ ...newcomer, request })),
  {
    request: ['integer', ({ request }) => request],
    issuer: ['text', ({ identity }) => identity.issuer],
    subject: ['text', ({ identity }) => identity.subject],
    user_id: ['uuid', ({ userId }) => userId],
    project_id: ['uuid', ({ projectId }) => projectId],
    email: ['text', ({ user }) => user.email],
    normalized_email: ['text', ({ user }) => normalizeEmail(user.email)],
    given_name: ['text', ({ user }) => user.givenName],
    family_name: ['text', ({ user }) => user.familyName],
    role: ['text', ({ user }) => user.role],
  },
);

const ANNOUNCED = AUDIT_EVENTS.insertion(
  (newcomers: Newcomers) => newcomers.map(({ events: [made] }) => [made]),
  sql`provisioned`,
);

const TOLD = AUDIT_EVENTS.insertion(
  (newcomers: Newcomers) => newcomers.map(({ events: [, succeeded] }) => [succeeded]),
  sql`announced_of`,
);

/**
 * The constraints decide every race: users and links go in sorted, users first as in a transaction that makes one alone, so that two
 * statements cannot wait for each other. Of a user whose link somebody else has made meanwhile nothing must stay: the division by
 * zero takes the whole statement back. Of one identity that comes twice the first is made, and the other finds it. That a user was made is written before what the user did: the one is read for the other.
 */
export const PROVISION = new SharedStatement(
  'user_account_provision',
  sql<Newcomers>`WITH newcomer AS MATERIALIZED (
      SELECT DISTINCT ON (issuer, subject) * FROM ${NEWCOMER}
      WHERE NOT EXISTS (
        SELECT FROM token_exchange_identity_link AS link WHERE link.issuer = newcomer.issuer AND link.subject = newcomer.subject
      )
      ORDER BY issuer, subject, request
    ), made AS (
      INSERT INTO user_account (id, email, normalized_email, given_name, family_name, role)
      SELECT user_id, email, normalized_email, given_name, family_name, role FROM newcomer ORDER BY normalized_email, request
      ON CONFLICT (normalized_email) DO NOTHING RETURNING id
    ), project_of AS (
      INSERT INTO project (id, type, name, personal_owner_id)
      SELECT project_id, 'personal', 'Personal', user_id FROM newcomer JOIN made ON made.id = newcomer.user_id
    ), member AS (
      INSERT INTO project_member (project_id, user_id, role)
      SELECT project_id, user_id, 'project:admin' FROM newcomer JOIN made ON made.id = newcomer.user_id
    ), linked AS (
      INSERT INTO token_exchange_identity_link (issuer, subject, user_id)
      SELECT issuer, subject, user_id FROM newcomer JOIN made ON made.id = newcomer.user_id ORDER BY issuer, subject
      ON CONFLICT (issuer, subject) DO NOTHING RETURNING user_id
    ), provisioned AS MATERIALIZED (
      SELECT request, linked.user_id AS subject_user_id, NULL::uuid AS actor_user_id
      FROM linked JOIN newcomer ON newcomer.user_id = linked.user_id
    ), announced AS (
      ${ANNOUNCED} RETURNING subject_user_id
    ), announced_of AS MATERIALIZED (
      SELECT provisioned.* FROM provisioned JOIN announced ON announced.subject_user_id = provisioned.subject_user_id
    ), told AS (
      ${TOLD}
    )
    SELECT newcomer.request, provisioned.request IS NOT NULL AS "isMade",
      1 / ((SELECT count(*) FROM made) = (SELECT count(*) FROM linked))::integer AS "isWhole"
    FROM newcomer LEFT JOIN provisioned ON provisioned.request = newcomer.request`,
  (rows: readonly { readonly request: number; readonly isMade: boolean }[], newcomers) => {
    const made = new Set(rows.filter(({ isMade }) => isMade).map(({ request }) => request));
    return newcomers.map((_, request) => made.has(request));
  },
);
