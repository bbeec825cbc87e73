// Projects and their members: the entities and all their queries.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Transaction } from '../database/transaction.js';
import { managerOf } from '../database/transaction.js';
import { PersonalProjects } from '../users/personal-projects.js';

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

export type ProjectRole = 'project:admin' | 'project:editor' | 'project:viewer';

@Entity('project_member')
export class ProjectMember {
  @PrimaryColumn('uuid', { name: 'project_id' })
  projectId!: string;

  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  @Column('text')
  role!: ProjectRole;
}

@Injectable()
export class ProjectRepository extends PersonalProjects {
  async create(transaction: Transaction, userId: string): Promise<void> {
    const manager = managerOf(transaction);
    const id = randomUUID();
    await manager.insert(Project, { id, type: 'personal', name: 'Personal', personalOwnerId: userId });
    await manager.insert(ProjectMember, { projectId: id, userId, role: 'project:admin' });
  }

  /** The personal project of a user, which every user has. */
  async personalProjectId(transaction: Transaction, userId: string): Promise<string> {
    const project = await managerOf(transaction).findOneByOrFail(Project, { personalOwnerId: userId });
    return project.id;
  }
}
