// Which role a user has in the project that a thing belongs to, as it is now. Reads across tables, in one statement.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import { parameter, sql } from '../../platform/database/sql.js';
import type { ProjectRole } from './rights.js';

/** What an id in a path stands for. */
export type ThingKind = 'project' | 'workflow' | 'credential';

/** The thing is there; `role` is null where the user is no member of its project. */
interface Standing {
  readonly role: ProjectRole | null;
}

/** The column of each table with the project. */
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

  /** Undefined where there is no such thing. */
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

  /** The roles that a user has in some projects, by project; those without one are left out. */
  async rolesIn(projectIds: readonly string[], userId: string): Promise<ReadonlyMap<string, ProjectRole>> {
    const rows = await this.database.run(ROLES_IN, { projectIds, userId });
    return new Map(rows.map(({ projectId, role }) => [projectId, role]));
  }
}
