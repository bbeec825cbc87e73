// Workflows: the entity and all its queries.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import type { Transaction } from '../database/transaction.js';
import { managerOf } from '../database/transaction.js';

/** A workflow. Nodes and connections are kept as they were sent. */
@Entity('workflow')
export class Workflow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'project_id' })
  projectId!: string;

  @Column('varchar', { length: 128 })
  name!: string;

  @Column('boolean')
  active!: boolean;

  @Column('json')
  nodes!: readonly unknown[];

  @Column('json')
  connections!: Record<string, unknown>;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}

export type NewWorkflow = Pick<Workflow, 'projectId' | 'name' | 'active' | 'nodes' | 'connections'>;

/** Which workflows to read. */
export interface WorkflowQuery {
  /** Only those of projects in which this user is a member; undefined: all of the instance. */
  readonly memberId?: string;
  /** Only those after this id, in the order of ids. */
  readonly afterId?: string;
  readonly limit: number;
}

@Injectable()
export class WorkflowRepository {
  constructor(@InjectRepository(Workflow) private readonly workflows: Repository<Workflow>) {}

  /** One page, in the order of ids: a page's end stays where it is, whatever is inserted or deleted meanwhile. */
  list({ memberId, afterId, limit }: WorkflowQuery): Promise<Workflow[]> {
    const query = this.workflows.createQueryBuilder('workflow').orderBy('workflow.id').limit(limit);
    if (memberId !== undefined) {
      query.where(
        'workflow.projectId IN (SELECT member.project_id FROM project_member member WHERE member.user_id = :memberId)',
        { memberId },
      );
    }
    if (afterId !== undefined) query.andWhere('workflow.id > :afterId', { afterId });
    return query.getMany();
  }

  async insert(transaction: Transaction, workflows: readonly NewWorkflow[]): Promise<string[]> {
    const rows = workflows.map((workflow) => ({ id: randomUUID(), ...workflow }));
    await managerOf(transaction)
      .getRepository(Workflow)
      .insert(rows as object[]);
    return rows.map(({ id }) => id);
  }
}
