// Counts what the service has stored, so that a test can tell what a request left behind.
import type { TestService } from './test-service.js';

/** The numbers of rows; `userStates` changes with every change of a user. */
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
