// Workflows: the entity and all its queries.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { SortedRows } from '../api/pages.js';
import type { PlacedWorkflow, WorkflowPageQuery, WorkflowScope } from './workflow-list.query.js';
import { MAX_COUNT, workflowCount, workflowPage } from './workflow-list.query.js';

/** A workflow. Nodes and connections are stored as they were sent. */
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

export type WorkflowChange = Partial<Omit<NewWorkflow, 'projectId'>>;

/** Set by the database. */
type WorkflowTimes = Pick<Workflow, 'createdAt' | 'updatedAt'>;

@Injectable()
export class WorkflowRepository {
  private readonly workflows: Repository<Workflow>;

  constructor(private readonly database: Database) {
    this.workflows = database.dataSource.getRepository(Workflow);
  }

  /** One page of a list. A workflow that moves meanwhile may be missing or appear twice. */
  async list({ limit, ...rest }: WorkflowPageQuery): Promise<SortedRows<PlacedWorkflow>> {
    // One more row than requested shows whether there is a next page.
    const query = { limit: limit + 1, ...rest };
    const rows = await this.database.run(workflowPage(query), query);
    const page = rows.slice(0, limit);
    return { rows: page, end: rows.length > limit ? page.at(-1) : undefined };
  }

  /** The count, up to MAX_COUNT, and whether there are more. */
  async count(scope: WorkflowScope): Promise<{ readonly count: number; readonly hasMore: boolean }> {
    const [{ count } = { count: 0 }] = await this.database.run(workflowCount(scope), scope);
    return { count: Math.min(count, MAX_COUNT), hasMore: count > MAX_COUNT };
  }

  async findById(id: string): Promise<Workflow | undefined> {
    return (await this.workflows.findOneBy({ id })) ?? undefined;
  }

  /**
   * Changes a workflow; undefined if it does not exist (any more). Written values are not read again, because
   * nodes and connections may be large.
   */
  async update(id: string, change: WorkflowChange): Promise<Workflow | undefined> {
    const { columns } = this.workflows.metadata;
    const read = columns.filter(({ propertyName }) => !Object.hasOwn(change, propertyName));
    const result = await this.workflows
      .createQueryBuilder()
      .update()
      .set({ ...(change as object), updatedAt: () => 'now()' })
      .where({ id })
      .returning(
        read.map(({ databaseName, propertyName }) => `${databaseName} AS "${propertyName}"`).join(', '),
      )
      .execute();
    const [row] = result.raw as Workflow[];
    return row && { ...row, ...change };
  }

  async delete(id: string): Promise<void> {
    await this.workflows.delete({ id });
  }

  /** @throws QueryFailedError with a foreign key violation if a project was deleted */
  async insert(transaction: Transaction, workflows: readonly NewWorkflow[]): Promise<Workflow[]> {
    const rows = workflows.map((workflow) => ({ id: randomUUID(), ...workflow }));
    const { generatedMaps } = await managerOf(transaction)
      .getRepository(Workflow)
      .insert(rows as object[]);
    return rows.map((row, index) => ({ ...row, ...(generatedMaps[index] as WorkflowTimes) }));
  }
}
