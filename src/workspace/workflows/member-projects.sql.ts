// SQL for the projects whose workflows a list shows: those of one member, or those that two members have in common.
import type { Sql } from '../../platform/database/sql.js';
import { parameter, sql } from '../../platform/database/sql.js';
import type { MemberScope } from '../rights/member-scope.js';

/** Of whose projects a list is, and of which one. */
export interface ProjectScope extends MemberScope {
  readonly projectId?: string;
}

export const PROJECT_ID: Sql<ProjectScope> = parameter('uuid', ({ projectId }) => projectId);
const MEMBER_ID: Sql<ProjectScope> = parameter('uuid', ({ memberId }) => memberId);
const OTHER_MEMBER_ID: Sql<ProjectScope> = parameter('uuid', ({ otherMemberId }) => otherMemberId);

/** The projects of the members, or the one that is named where it is among them. It ends with a condition. */
export function memberProjects({ projectId, otherMemberId }: ProjectScope): Sql<ProjectScope> {
  const project = projectId === undefined ? sql`` : sql`AND member.project_id = ${PROJECT_ID}`;
  const own = sql`SELECT member.project_id FROM project_member member WHERE member.user_id = ${MEMBER_ID} ${project}`;
  if (otherMemberId === undefined) return own;
  return sql`${own} AND EXISTS (
      SELECT FROM project_member other WHERE other.project_id = member.project_id AND other.user_id = ${OTHER_MEMBER_ID}
    )`;
}

/** What the name of a statement says of its members; nothing where it reads all projects. */
export function memberNames({ memberId, otherMemberId }: MemberScope): ('memberId' | 'both')[] {
  if (memberId === undefined) return [];
  return [otherMemberId === undefined ? 'memberId' : 'both'];
}
