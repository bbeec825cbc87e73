// Projects: the entity and the queries of API and commands; those of tokens are in instance-projects.ts.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { PageRange } from '../api/pages.js';
import type { MemberScope } from '../rights/rights.js';
import { ProjectMember } from './project-member.repository.js';

/** By which tokens of an issuer name a project. */
export interface ExternalKey {
  readonly issuer: string;
  readonly key: string;
}

/** A project: personal, which belongs to one user for ever, or a team's. */
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

  /** By which tokens of partners name it. */
  externalKeys?: readonly ExternalKey[];
}

@Injectable()
export class ProjectRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Makes a team's project, with its first administrator. Personal ones are made with their users. */
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

  /** The personal project of a user, which every user has. */
  async personalProjectId(transaction: Transaction, userId: string): Promise<string> {
    const project = await managerOf(transaction).findOneByOrFail(Project, { personalOwnerId: userId });
    return project.id;
  }

  async findById(id: string): Promise<Project | undefined> {
    const project = await this.dataSource.manager.findOneBy(Project, { id });
    return project === null ? undefined : (await this.withKeys([project]))[0];
  }

  /** A page of all projects, or of those in which the given users are members. */
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
    // In the order of the membership, whose index is (user, project): the same order, and no sorting.
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
   * Has tokens of an issuer mean a team's project by one key, and no other project.
   * @returns whether there is such a project
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

  /** Undefined where there is no such project (any more). */
  async rename(id: string, name: string): Promise<Project | undefined> {
    await this.dataSource.manager.update(Project, { id }, { name, updatedAt: () => 'now()' });
    return this.findById(id);
  }

  /** Deletes a project with everything in it, by the schema's cascades. */
  async delete(id: string): Promise<void> {
    await this.dataSource.manager.delete(Project, { id });
  }
}
