// Implements the port to projects with the tables of this instance's workspace.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { LostRaceError, managerOf } from '../../platform/database/transaction.js';
import type {
  ClaimingUser,
  HostProject,
  ProjectChange,
  ProjectQuery,
} from '../../token-exchange/instance.js';
import { ProjectDirectory } from '../../token-exchange/instance.js';

// With subqueries for single projects and arrays of ids, the planner can only use the indexes. For joins it
// might read whole tables, because its plans are generic.

/** A user's memberships from claims. */
const held = (userId: string, most: string) => `SELECT project_id AS id, issuer, role FROM project_member
    WHERE user_id = ${userId}::uuid AND issuer IS NOT NULL ORDER BY project_id LIMIT ${most}`;

/** The projects of the keys, and those of which the user is a member by claims. */
const FIND = `WITH asked AS (
    SELECT project_id AS id FROM project_external_key WHERE issuer = $1 AND key = ANY($3)
    UNION SELECT id FROM (${held('$2', '$4')}) AS held
  )
  SELECT asked.id, (
    SELECT key FROM project_external_key WHERE project_id = asked.id AND issuer = $1
  ) AS key, (
    SELECT json_build_object('role', role, 'issuer', issuer,
      'ownRole', CASE WHEN issuer IS NULL THEN role ELSE own_role END,
      'isLastAdministrator', role = 'project:admin' AND NOT EXISTS (
        SELECT 1 FROM project_member other
        WHERE other.project_id = asked.id AND other.role = 'project:admin' AND other.user_id <> $2::uuid
      ))
    FROM project_member WHERE project_id = asked.id AND user_id = $2::uuid
  ) AS member
  FROM asked ORDER BY asked.id`;

/**
 * Locks projects that the user administers through the issuer's claims, so that their other administrators
 * stay.
 */
const LOCK_ADMINISTERED = `SELECT 1 FROM project WHERE id = ANY(ARRAY(
    SELECT id FROM (${held('$2', '$3')}) AS held WHERE issuer = $1 AND role = 'project:admin'
  )) ORDER BY id FOR NO KEY UPDATE`;

@Injectable()
export class InstanceProjects extends ProjectDirectory {
  async find(
    transaction: Transaction,
    { issuer, userId, keys, mostHeld, isLocking }: ProjectQuery,
  ): Promise<HostProject[]> {
    const manager = managerOf(transaction);
    if (isLocking) await manager.query(LOCK_ADMINISTERED, [issuer, userId, mostHeld]);
    return manager.query<HostProject[]>(FIND, [issuer, userId, keys, mostHeld]);
  }

  /**
   * Changes the memberships in one statement: triggers clear the digests of links at its end, and a
   * transaction with a membership never waits for another one.
   * @throws LostRaceError if a project was deleted meanwhile
   */
  async change(
    transaction: Transaction,
    { issuer, userId }: ClaimingUser,
    changes: readonly ProjectChange[],
  ): Promise<readonly string[]> {
    const ids = await heldProjects(transaction, issuer, changes);
    const rows = changes.map(({ to, isClaimed }, index) => ({ id: ids[index], role: to, isClaimed }));
    await managerOf(transaction).query(
      `WITH change AS (
         SELECT * FROM json_to_recordset($3) AS change (id uuid, role text, "isClaimed" boolean)
       ), ended AS (
         DELETE FROM project_member
         WHERE user_id = $2 AND issuer IS NOT NULL AND project_id = ANY(ARRAY(SELECT id FROM change WHERE role IS NULL))
       ), released AS (
         UPDATE project_member member SET own_role = NULL, issuer = NULL,
           role = (SELECT role FROM change WHERE id = member.project_id)
         WHERE user_id = $2 AND issuer IS NOT NULL
           AND project_id = ANY(ARRAY(SELECT id FROM change WHERE NOT "isClaimed" AND role IS NOT NULL))
       )
       INSERT INTO project_member AS member (project_id, user_id, role, issuer)
       SELECT id, $2, role, $1 FROM change WHERE "isClaimed" ORDER BY id
       ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role, issuer = excluded.issuer,
         own_role = CASE WHEN member.issuer IS NULL THEN member.role ELSE member.own_role END`,
      [issuer, userId, JSON.stringify(rows)],
    );
    return ids;
  }
}

/**
 * The projects of the changes. Creates missing ones, and prevents their deletion until the transaction ends.
 */
async function heldProjects(
  transaction: Transaction,
  issuer: string,
  changes: readonly ProjectChange[],
): Promise<string[]> {
  const ids = changes.flatMap(({ id }) => id ?? []);
  const keys = changes.flatMap(({ id, key }) => (id === undefined && key !== null ? [key] : []));
  if (keys.length > 0) await make(transaction, issuer, keys);
  const held = await managerOf(transaction).query<Pick<HostProject, 'id' | 'key'>[]>(
    `SELECT id, (SELECT key FROM project_external_key WHERE project_id = project.id AND issuer = $1) AS key FROM project
     WHERE id = ANY($2::uuid[] || ARRAY(SELECT project_id FROM project_external_key WHERE issuer = $1 AND key = ANY($3)))
     ORDER BY id FOR KEY SHARE`,
    [issuer, ids, keys],
  );
  return changes.map((change) => {
    const project = held.find(({ id, key }) =>
      change.id === undefined ? key === change.key : id === change.id,
    );
    if (project === undefined) throw new LostRaceError('a project was deleted meanwhile');
    return project.id;
  });
}

/**
 * Creates team projects, named by their keys. The primary key decides every race: a transaction waits for
 * another one that creates the same project, and all create theirs in the order of the keys. Foreign keys are
 * checked at the end of the single statement.
 */
async function make(transaction: Transaction, issuer: string, keys: readonly string[]): Promise<void> {
  await managerOf(transaction).query(
    `WITH made AS (
       INSERT INTO project_external_key (issuer, key, project_id)
       SELECT $1, key, id FROM unnest($2::text[], $3::uuid[]) AS missing (key, id)
       ON CONFLICT DO NOTHING RETURNING key, project_id
     ) INSERT INTO project (id, type, name) SELECT project_id, 'team', key FROM made`,
    [issuer, keys, keys.map(() => randomUUID())],
  );
}
