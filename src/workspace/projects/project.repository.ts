// Projects: the entity and the queries of API and commands. See instance-projects.ts for the queries of
// tokens.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { sql } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import { PersonalProjects } from '../../users/user.repository.js';
import type { PageRange } from '../api/pages.js';
import type { MemberScope, ProjectRole } from '../rights/rights.js';

@Entity('project_member')
export class ProjectMember {
  @PrimaryColumn('uuid', { name: 'project_id' })
  projectId!: string;

  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  @Column('text')
  role!: ProjectRole;

  /** The role that a user assigned, if a claim gives the membership too. */
  @Column('text', { name: 'own_role', nullable: true })
  ownRole?: ProjectRole | null;

  /** The issuer whose claim gives the membership; null if a user gave it. */
  @Column('text', { nullable: true })
  issuer?: string | null;
}

interface MemberRow {
  readonly id: string;
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly role: ProjectRole;
  readonly issuer: string | null;
}

const SELECT_MEMBERS = `SELECT u.id, u.email, u.given_name AS "givenName", u.family_name AS "familyName", member.role, member.issuer
  FROM project_member member JOIN user_account u ON u.id = member.user_id
  WHERE member.project_id = $1`;

@Injectable()
export class ProjectMemberRepository {
  constructor(private readonly dataSource: DataSource) {}

  list(projectId: string, { afterId, limit }: PageRange): Promise<MemberRow[]> {
    return this.dataSource.query<MemberRow[]>(
      `${SELECT_MEMBERS} AND ($2::uuid IS NULL OR member.user_id > $2) ORDER BY member.user_id LIMIT $3`,
      [projectId, afterId ?? null, limit],
    );
  }

  async find(projectId: string, userId: string): Promise<MemberRow | undefined> {
    const rows = await this.dataSource.query<MemberRow[]>(`${SELECT_MEMBERS} AND member.user_id = $2`, [
      projectId,
      userId,
    ]);
    return rows[0];
  }

  /**
   * The constraints decide whether the user is already a member, and whether user and project (still) exist.
   * @throws QueryFailedError with a unique violation, with a foreign key violation
   */
  async insert(transaction: Transaction, member: ProjectMember): Promise<void> {
    await managerOf(transaction).insert(ProjectMember, member);
  }

  async changeRole({ projectId, userId, role }: ProjectMember): Promise<void> {
    await this.dataSource.query(
      `UPDATE project_member SET role = $3, own_role = CASE WHEN issuer IS NOT NULL THEN $3 END
       WHERE project_id = $1 AND user_id = $2`,
      [projectId, userId, role],
    );
  }

  /** @returns whether the user was a member */
  async delete(projectId: string, userId: string): Promise<boolean> {
    const { affected } = await this.dataSource.manager.delete(ProjectMember, { projectId, userId });
    return affected === 1;
  }
}

/** The name of a project in an issuer's tokens. */
export interface ExternalKey {
  readonly issuer: string;
  readonly key: string;
}

/** A personal project, which belongs to one user for ever, or a team project. */
@Entity('project')
export class Project {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  type!: 'personal' | 'team';

  @Column('text')
  name!: string;

  @Column('uuid', { name: 'personal_owner_id', nullable: true, unique: true })
  personalOwnerId!: string | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;

  /** The project's names in partners' tokens. */
  externalKeys?: readonly ExternalKey[];
}

@Injectable()
export class ProjectRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Creates a team project with its first administrator. Personal projects are created with their users. */
  async createTeam(transaction: Transaction, name: string, adminId: string): Promise<Project> {
    const id = randomUUID();
    await managerOf(transaction).query(
      `WITH made AS (
         INSERT INTO project (id, type, name) VALUES ($1, 'team', $2) RETURNING id
       ) INSERT INTO project_member (project_id, user_id, role) SELECT id, $3, 'project:admin' FROM made`,
      [id, name, adminId],
    );
    return managerOf(transaction).findOneByOrFail(Project, { id });
  }

  /** The id of a user's personal project. Every user has one. */
  async personalProjectId(transaction: Transaction, userId: string): Promise<string> {
    const project = await managerOf(transaction).findOneByOrFail(Project, { personalOwnerId: userId });
    return project.id;
  }

  async findById(id: string): Promise<Project | undefined> {
    const project = await this.dataSource.manager.findOneBy(Project, { id });
    return project === null ? undefined : (await this.withKeys([project]))[0];
  }

  async list(scope: MemberScope, range: PageRange): Promise<Project[]> {
    return this.withKeys(await this.rows(scope, range));
  }

  private rows({ memberId, otherMemberId }: MemberScope, { afterId, limit }: PageRange): Promise<Project[]> {
    const query = this.dataSource.manager.createQueryBuilder(Project, 'project').limit(limit);
    if (memberId === undefined) {
      query.orderBy('project.id');
      if (afterId !== undefined) query.where('project.id > :afterId', { afterId });
      return query.getMany();
    }
    // Sorted by the membership's project id, which the index (user, project) already provides.
    query.innerJoin(ProjectMember, 'member', 'member.projectId = project.id').orderBy('member.projectId');
    query.where('member.userId = :memberId', { memberId });
    if (otherMemberId !== undefined) {
      const isOther = 'other.projectId = member.projectId AND other.userId = :otherMemberId';
      query.innerJoin(ProjectMember, 'other', isOther, { otherMemberId });
    }
    if (afterId !== undefined) query.andWhere('member.projectId > :afterId', { afterId });
    return query.getMany();
  }

  /**
   * Maps a key in an issuer's tokens to a team project, replacing the project's and the key's earlier
   * mappings.
   * @returns whether the project exists
   */
  async setKey(transaction: Transaction, id: string, { issuer, key }: ExternalKey): Promise<boolean> {
    const manager = managerOf(transaction);
    const sql = `SELECT 1 FROM project WHERE id = $1 AND type = 'team' FOR KEY SHARE`;
    if ((await manager.query<object[]>(sql, [id])).length === 0) return false;
    await manager.query(
      'DELETE FROM project_external_key WHERE issuer = $1 AND (key = $2 OR project_id = $3)',
      [issuer, key, id],
    );
    await manager.query('INSERT INTO project_external_key (issuer, key, project_id) VALUES ($1, $2, $3)', [
      issuer,
      key,
      id,
    ]);
    return true;
  }

  private async withKeys(projects: Project[]): Promise<Project[]> {
    const keys = await this.dataSource.query<(ExternalKey & { projectId: string })[]>(
      `SELECT project_id AS "projectId", issuer, key FROM project_external_key WHERE project_id = ANY($1) ORDER BY issuer`,
      [projects.map(({ id }) => id)],
    );
    for (const project of projects)
      project.externalKeys = keys
        .filter(({ projectId }) => projectId === project.id)
        .map(({ issuer, key }) => ({ issuer, key }));
    return projects;
  }

  /** Undefined if the project does not exist (any more). */
  async rename(id: string, name: string): Promise<Project | undefined> {
    await this.dataSource.manager.update(Project, { id }, { name, updatedAt: () => 'now()' });
    return this.findById(id);
  }

  /** Deletes a project and, through the schema's cascades, everything in it. */
  async delete(id: string): Promise<void> {
    await this.dataSource.manager.delete(Project, { id });
  }
}

@Injectable()
export class PersonalProjectRepository extends PersonalProjects {
  readonly insertForCreated = sql`personal AS (
    INSERT INTO project (id, type, name, personal_owner_id)
    SELECT gen_random_uuid(), 'personal', 'Personal', id FROM made RETURNING id, personal_owner_id
  ), membership AS (
    INSERT INTO project_member (project_id, user_id, role) SELECT id, personal_owner_id, 'project:admin' FROM personal
  )`;
}
