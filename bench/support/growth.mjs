// Fills a database with the rows of years of use: replay records, users with projects and links, audit rows, workflows.
// A user's number determines the user's ids.
import { randomInt, randomUUID } from 'node:crypto';
import { ISSUER } from './partner.mjs';
import { insertWorkflows, WORKFLOWS_PER_PROJECT } from './workflows.mjs';

const USED_TOKENS = 10_000_000;
const USERS = 1_000_000;
const SUBJECT_PREFIX = 'grown-';
/** One in this many users has workflows, more than fit on a page. */
const USERS_PER_AUTHOR = 50;
/** Each user is a member of one team because of a claim. */
const USERS_PER_TEAM = 10;
const TEAM_PREFIX = 'team-';
const AUDIT_ROWS = 1_000_000;
/** Disables the checks of foreign keys, because the inserted rows are known to be correct. */
const SESSION = { session_replication_role: 'replica', maintenance_work_mem: '512MB' };

/** The number of rows of each kind. @param scale divides the numbers */
export function grownCounts(scale) {
  const authors = Math.max(1, Math.round(USERS / scale / USERS_PER_AUTHOR));
  const users = authors * USERS_PER_AUTHOR;
  return {
    usedTokens: Math.round(USED_TOKENS / scale),
    users,
    teams: users / USERS_PER_TEAM,
    auditRows: Math.round(AUDIT_ROWS / scale),
    workflows: authors * WORKFLOWS_PER_PROJECT,
  };
}

/** Fills a database that has the schema. Then updates its statistics and writes its rows to disk. */
export async function grow({ postgres, tell }, database, counts) {
  await postgres.inSession(
    database,
    async (client) => {
      for (const [table, insert] of insertions(counts)) {
        tell(`filling ${table}`);
        await withoutIndexes(client, table, () => insert(client));
      }
      tell('vacuuming');
      // Otherwise autovacuum would run during a round.
      await client.query('VACUUM ANALYZE');
      await client.query('CHECKPOINT');
    },
    SESSION,
  );
}

/** Makes the claims of a number of logins of random users. */
export function grownLogins(users) {
  return (count) => Array.from({ length: count }, () => claimsOf(randomInt(1, users + 1)));
}

/** Makes the claims of logins of random users who have workflows. */
export function grownAuthors(users) {
  const authors = Math.floor(users / USERS_PER_AUTHOR);
  return (count) =>
    Array.from({ length: count }, () => claimsOf(randomInt(1, authors + 1) * USERS_PER_AUTHOR));
}

/** The policy that the tokens of `grownMovers` need. */
export const MOVING_POLICY = { projects: { mayAssign: [`${TEAM_PREFIX}*`], create: true } };

/** Makes the claims of logins that move each user into two other teams and a new one. */
export function grownMovers({ users, teams }) {
  const team = () => `${TEAM_PREFIX}${randomInt(1, teams + 1)}:project:editor`;
  const newTeam = () => `${TEAM_PREFIX}${randomUUID()}:project:viewer`;
  return (count) =>
    grownLogins(users)(count).map((claims) => ({ ...claims, projects: [team(), team(), newTeam()] }));
}

/** Claims that do not change the user. */
function claimsOf(number) {
  const sub = `${SUBJECT_PREFIX}${number}`;
  return { sub, email: `${sub}@partner.example` };
}

/** Indexes that no foreign key refers to, with the statements that drop and make them. */
const DROPPABLE = `
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', $1::regclass, conname) AS drop,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', $1::regclass, conname, pg_get_constraintdef(oid)) AS create
  FROM pg_constraint own
  WHERE conrelid = $1::regclass AND contype IN ('p', 'u') AND NOT EXISTS (
    SELECT FROM pg_constraint reference WHERE reference.conindid = own.conindid AND reference.contype = 'f'
  )
  UNION ALL
  SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
  FROM pg_index
  WHERE indrelid = $1::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`;

/** Drops the indexes during the insertion. Rebuilding them is several times faster than updating them for each row. */
export async function withoutIndexes(client, table, insert) {
  const { rows: indexes } = await client.query(DROPPABLE, [table]);
  for (const { drop } of indexes) await client.query(drop);
  await insert();
  for (const { create } of indexes) await client.query(create);
}

function insertions({ usedTokens, users, teams, auditRows }) {
  return [
    ['token_exchange_used_jti', (client) => client.query(USED_TOKENS_INSERTION, [usedTokens])],
    ['user_account', (client) => client.query(USERS_INSERTION, [users])],
    ['token_exchange_identity_link', (client) => client.query(LINKS_INSERTION, [users, ISSUER])],
    ['project', (client) => client.query(PROJECTS_INSERTION, [users, teams])],
    ['project_external_key', (client) => client.query(KEYS_INSERTION, [teams, ISSUER])],
    ['project_member', (client) => client.query(MEMBERS_INSERTION, [users, teams, ISSUER])],
    ['workflow', (client) => insertWorkflows(client, AUTHORS_PROJECTS)],
    ['audit_event', (client) => client.query(AUDIT_INSERTION, [auditRows, users, ISSUER])],
  ];
}

/** The tables that `grow` fills. */
export const GROWN_TABLES = insertions({}).map(([table]) => table);

// No row expires during the benchmark, so the purge deletes none.
const USED_TOKENS_INSERTION = `INSERT INTO token_exchange_used_jti (jti_hash, expires_at)
  SELECT gen_random_uuid(), now() + interval '1 hour' * (2 + random() * 22)
  FROM generate_series(1, $1::int)`;

/** Computes ids from users' numbers. They are distributed as randomly as the service's ids. */
const USER_ID = `md5('user ' || number)::uuid`;
const PROJECT_ID = `md5('project ' || number)::uuid`;
const teamId = (number) => `md5('team ' || ${number})::uuid`;
const TEAM_KEY = `'${TEAM_PREFIX}' || number`;
const SUBJECT = `'${SUBJECT_PREFIX}' || number`;
const EMAIL = `${SUBJECT} || '@partner.example'`;

const USERS_INSERTION = `INSERT INTO user_account (id, email, normalized_email, given_name, family_name, role)
  SELECT ${USER_ID}, ${EMAIL}, ${EMAIL}, '', '', 'global:member' FROM generate_series(1, $1::int) number`;

const LINKS_INSERTION = `INSERT INTO token_exchange_identity_link (issuer, subject, user_id)
  SELECT $2, ${SUBJECT}, ${USER_ID} FROM generate_series(1, $1::int) number`;

const PROJECTS_INSERTION = `INSERT INTO project (id, type, name, personal_owner_id)
  SELECT ${PROJECT_ID}, 'personal', 'Personal', ${USER_ID} FROM generate_series(1, $1::int) number
  UNION ALL SELECT ${teamId('number')}, 'team', ${TEAM_KEY}, NULL FROM generate_series(1, $2::int) number`;

const KEYS_INSERTION = `INSERT INTO project_external_key (issuer, key, project_id)
  SELECT $2, ${TEAM_KEY}, ${teamId('number')} FROM generate_series(1, $1::int) number`;

const MEMBERS_INSERTION = `INSERT INTO project_member (project_id, user_id, role, issuer)
  SELECT ${PROJECT_ID}, ${USER_ID}, 'project:admin', NULL FROM generate_series(1, $1::int) number
  UNION ALL SELECT ${teamId('(1 + number % $2::int)')}, ${USER_ID}, 'project:viewer', $3
  FROM generate_series(1, $1::int) number`;

const AUTHORS_PROJECTS = `SELECT project.id FROM project JOIN user_account ON user_account.id = personal_owner_id
  WHERE email LIKE '${SUBJECT_PREFIX}%'
    AND substring(email FROM '${SUBJECT_PREFIX}([0-9]+)')::int % ${USERS_PER_AUTHOR} = 0`;

// A month of exchanges. The users take turns.
const AUDIT_INSERTION = `INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload)
  SELECT 'svc.audit.token-exchange.succeeded', now() - interval '30 days' * (1 - event::float8 / $1),
    lpad(event::text, 20, '0'), md5('user ' || (1 + event % $2::int))::uuid,
    jsonb_build_object('issuer', $3::text, 'kid', 'partner-ES256', 'accessTokenId', gen_random_uuid(),
      'lifetimeSeconds', 60)
  FROM generate_series(1, $1::int) event`;
