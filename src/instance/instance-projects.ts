// The port to projects, on the tables of this instance's workspace.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/transaction.js';
import { LostRaceError, managerOf } from '../platform/database/transaction.js';
import type { ClaimingUser, HostProject, ProjectChange, ProjectQuery } from '../token-exchange/instance.js';
import { ProjectDirectory } from '../token-exchange/instance.js';

/** The projects of the keys, and those in which the user is by claims of the issuer. */
const ASKED = `FROM project
  LEFT JOIN project_external_key external ON external.project_id = project.id AND external.issuer = $1
  LEFT JOIN project_member member ON member.project_id = project.id AND member.user_id = $2::uuid
  WHERE project.id IN (
    SELECT project_id FROM project_external_key WHERE issuer = $1 AND key = ANY($3)
    UNION SELECT project_id FROM project_member WHERE user_id = $2::uuid AND issuer = $1
  )`;

const MEMBER = `CASE WHEN member.role IS NOT NULL THEN json_build_object('role', member.role, 'issuer', member.issuer,
    'ownRole', CASE WHEN member.issuer IS NULL THEN member.role ELSE member.own_role END,
    'isLastAdministrator', member.role = 'project:admin' AND NOT EXISTS (
      SELECT 1 FROM project_member other
      WHERE other.project_id = project.id AND other.role = 'project:admin' AND other.user_id <> member.user_id
    )) END`;

@Injectable()
export class InstanceProjects extends ProjectDirectory {
  async find(
    transaction: Transaction,
    { issuer, userId, keys, isLocking }: ProjectQuery,
  ): Promise<HostProject[]> {
    const manager = managerOf(transaction);
    const asked = [issuer, userId ?? null, keys];
    const isAdministered = `member.role = 'project:admin' AND member.issuer = $1`;
    if (isLocking)
      await manager.query(
        `SELECT 1 ${ASKED} AND ${isAdministered} ORDER BY project.id FOR NO KEY UPDATE OF project`,
        asked,
      );
    return manager.query<HostProject[]>(
      `SELECT project.id, external.key, ${MEMBER} AS member ${ASKED} ORDER BY project.id`,
      asked,
    );
  }

  /**
   * The memberships change by one statement: triggers clear digests of links at its end, and a transaction that has a membership
   * never waits for another one.
   * @throws LostRaceError where a project was deleted meanwhile
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
         DELETE FROM project_member member USING change
         WHERE member.project_id = change.id AND member.user_id = $2 AND change.role IS NULL
       ), released AS (
         UPDATE project_member member SET role = change.role, own_role = NULL, issuer = NULL FROM change
         WHERE member.project_id = change.id AND member.user_id = $2 AND NOT "isClaimed" AND change.role IS NOT NULL
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

/** The projects of changes, made where they are missing, and kept from being deleted until the transaction ends. */
async function heldProjects(
  transaction: Transaction,
  issuer: string,
  changes: readonly ProjectChange[],
): Promise<string[]> {
  const ids = changes.flatMap(({ id }) => id ?? []);
  const keys = changes.flatMap(({ id, key }) => (id === undefined && key !== null ? [key] : []));
  if (keys.length > 0) await make(transaction, issuer, keys);
  const held = await managerOf(transaction).query<Pick<HostProject, 'id' | 'key'>[]>(
    `SELECT project.id, external.key FROM project
       LEFT JOIN project_external_key external ON external.project_id = project.id AND external.issuer = $1
     WHERE project.id = ANY($2) OR project.id IN (
       SELECT project_id FROM project_external_key WHERE issuer = $1 AND key = ANY($3)
     ) ORDER BY project.id FOR KEY SHARE OF project`,
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
 * Makes teams, named by their keys. The primary key decides every race: a transaction waits for another that makes the same team,
 * and all make theirs in the order of the keys. One statement, at whose end its foreign keys are checked.
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
