// Counts what the service has stored, so that a test can tell what a request left behind.
import type { TestService } from './test-service.js';

/** How many rows there are; `userStates` changes with every change of a user. */
export interface Census {
  users: number;
  userStates: string;
  links: number;
  personalProjects: number;
  members: number;
  sessions: number;
  usedJtis: number;
  auditEvents: number;
}

const COUNTS = `SELECT
  (SELECT count(*)::int FROM user_account) AS "users",
  (SELECT md5(coalesce(string_agg(u::text, ' ' ORDER BY u.id), '')) FROM user_account u) AS "userStates",
  (SELECT count(*)::int FROM token_exchange_identity_link) AS "links",
  (SELECT count(*)::int FROM project WHERE type = 'personal') AS "personalProjects",
  (SELECT count(*)::int FROM project_member) AS "members",
  (SELECT count(*)::int FROM token_exchange_session) AS "sessions",
  (SELECT count(*)::int FROM token_exchange_used_jti) AS "usedJtis",
  (SELECT count(*)::int FROM audit_event) AS "auditEvents"`;

export async function census(service: TestService): Promise<Census> {
  const [counts] = await service.rows<Census>(COUNTS);
  if (counts === undefined) throw new Error('counting answered no row');
  return counts;
}

/** One row of the audit trail. */
export interface StoredEvent {
  name: string;
  requestId: string;
  subjectUserId: string | null;
  actorUserId: string | null;
  payload: Record<string, unknown>;
}

/** The audit events of one answer, by its `X-Request-Id`, oldest first. */
export function eventsOf(service: TestService, answer: Response): Promise<StoredEvent[]> {
  return service.rows<StoredEvent>(
    `SELECT name, request_id AS "requestId", subject_user_id AS "subjectUserId",
            actor_user_id AS "actorUserId", payload
     FROM audit_event WHERE request_id = $1 ORDER BY id`,
    [answer.headers.get('x-request-id')],
  );
}

/** How many events of a name there are. */
export async function countEvents(service: TestService, name: string): Promise<number> {
  const [row] = await service.rows<{ events: number }>(
    'SELECT count(*)::int AS "events" FROM audit_event WHERE name = $1',
    [name],
  );
  return row?.events ?? 0;
}
