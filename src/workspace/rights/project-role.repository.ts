// A user's current role in the project of an object. Reads several tables in one statement.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { parameter, PreparedStatement, sql } from '../../platform/database/sql.js';
import type { ProjectRole } from './rights.js';

/** The kind of object that an id in a path identifies. */
export type ThingKind = 'project' | 'workflow' | 'credential';

/** The object exists; `role` is null if the user is not a member of its project. */
interface Standing {
  readonly role: ProjectRole | null;
}

/** Each table's column with the project's id. */
const PROJECT_COLUMN = { project: 'id', workflow: 'project_id', credential: 'project_id' } satisfies Record<
  ThingKind,
  string
>;

interface RolesQuery {
  readonly projectIds: readonly string[];
  readonly userId: string;
}

const ROLES_IN = new PreparedStatement<RolesQuery, { projectId: string; role: ProjectRole }>(
  'project_member_roles_in',
  sql`SELECT project_id AS "projectId", role FROM project_member
    WHERE user_id = ${parameter('uuid', ({ userId }: RolesQuery) => userId)}
      AND project_id = ANY(${parameter('uuid[]', ({ projectIds }: RolesQuery) => projectIds)})`,
);

@Injectable()
export class ProjectRoleRepository {
  constructor(private readonly database: Database) {}

  /** Undefined if the object does not exist. */
  async standing(kind: ThingKind, id: string, userId: string): Promise<Standing | undefined> {
    const column = PROJECT_COLUMN[kind];
    const [standing] = await this.database.dataSource.query<Standing[]>(
      `SELECT member.role FROM ${kind} thing
       LEFT JOIN project_member member ON member.project_id = thing.${column} AND member.user_id = $2
       WHERE thing.id = $1`,
      [id, userId],
    );
    return standing;
  }

  /** A user's roles by project; projects without one are omitted. */
  async rolesIn(projectIds: readonly string[], userId: string): Promise<ReadonlyMap<string, ProjectRole>> {
    const rows = await this.database.run(ROLES_IN, { projectIds, userId });
    return new Map(rows.map(({ projectId, role }) => [projectId, role]));
  }
}
