// Projects: the entity and all its queries.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import { PersonalProjects } from '../../users/user.service.js';
import type { PageRange } from '../api/pages.js';
import type { MemberScope } from '../rights/rights.js';
import { ProjectMember } from './project-member.repository.js';

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
}

@Injectable()
export class ProjectRepository extends PersonalProjects {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async create(transaction: Transaction, userId: string): Promise<void> {
    await insert(transaction, { type: 'personal', name: 'Personal', personalOwnerId: userId }, userId);
  }

  /** Makes a team's project, with its first administrator. */
  async createTeam(transaction: Transaction, name: string, adminId: string): Promise<Project> {
    const id = await insert(transaction, { type: 'team', name, personalOwnerId: null }, adminId);
    return managerOf(transaction).findOneByOrFail(Project, { id });
  }

  /** The personal project of a user, which every user has. */
  async personalProjectId(transaction: Transaction, userId: string): Promise<string> {
    const project = await managerOf(transaction).findOneByOrFail(Project, { personalOwnerId: userId });
    return project.id;
  }

  async findById(id: string): Promise<Project | undefined> {
    return (await this.dataSource.manager.findOneBy(Project, { id })) ?? undefined;
  }

  /** A page of all projects, or of those in which the given users are members. */
  list({ memberId, otherMemberId }: MemberScope, { afterId, limit }: PageRange): Promise<Project[]> {
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

type NewProject = Pick<Project, 'type' | 'name' | 'personalOwnerId'>;

async function insert(
  transaction: Transaction,
  { type, name, personalOwnerId }: NewProject,
  adminId: string,
): Promise<string> {
  const id = randomUUID();
  await managerOf(transaction).query(
    `WITH made AS (
       INSERT INTO project (id, type, name, personal_owner_id) VALUES ($1, $2, $3, $4) RETURNING id
     ) INSERT INTO project_member (project_id, user_id, role) SELECT id, $5, 'project:admin' FROM made`,
    [id, type, name, personalOwnerId, adminId],
  );
  return id;
}
