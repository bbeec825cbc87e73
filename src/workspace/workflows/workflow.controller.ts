// /api/v1/workflows: workflows as definitions; nothing here runs them.
import { Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { isForeignKeyViolation } from '../../token-exchange/database/database-error.js';
import { Transactions } from '../../token-exchange/database/transaction.js';
import { ApiController } from '../api/api-controller.decorator.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { ApiQuery } from '../api/body/api-documentation.js';
import { JsonBody } from '../api/body/json-body.js';
import { Operation } from '../api/operation.decorator.js';
import type { Page } from '../api/pages.js';
import { Pages } from '../api/pages.js';
import type { PageQuery } from '../api/query.pipe.js';
import { IdPipe, QueryPipe, readFlag, readId, readText } from '../api/query.pipe.js';
import { AccessRights, visibleToMember } from '../rights/access-rights.js';
import { ProjectChoice } from '../rights/project-choice.js';
import {
  ListedWorkflowAnswer,
  NewWorkflowBody,
  WorkflowAnswer,
  WorkflowChangeBody,
  listedWorkflowAnswer,
  workflowAnswer,
} from './workflow.dto.js';
import type { NewWorkflow, Workflow, WorkflowChange } from './workflow.repository.js';
import { WorkflowRepository } from './workflow.repository.js';

interface WorkflowListQuery extends PageQuery {
  readonly active?: boolean;
  readonly name?: string;
  readonly projectId?: string;
}

const listQuery = new QueryPipe({ active: readFlag, name: readText, projectId: readId });

@ApiController('workflows', 'Workflows')
export class WorkflowController {
  constructor(
    private readonly workflows: WorkflowRepository,
    private readonly accessRights: AccessRights,
    private readonly projectChoice: ProjectChoice,
    private readonly transactions: Transactions,
    private readonly pages: Pages,
  ) {}

  @Get()
  @Operation({
    summary: 'List the workflows that the acting user may see',
    description: 'Without nodes and connections, which the workflow itself answers.',
    right: 'workflow:read',
    asksItself: true,
    answer: { status: 200, pageOf: ListedWorkflowAnswer },
    errors: [400],
  })
  @ApiQuery({
    name: 'active',
    required: false,
    schema: { type: 'boolean' },
    description: 'Active ones, or others',
  })
  @ApiQuery({ name: 'name', required: false, schema: { type: 'string' }, description: 'The whole name' })
  @ApiQuery({
    name: 'projectId',
    required: false,
    schema: { type: 'string', format: 'uuid' },
    description: 'Those of one project',
  })
  async list(
    @CurrentPrincipal() { user }: Principal,
    @Query(listQuery) { limit, cursor, ...filters }: WorkflowListQuery,
  ): Promise<Page<ListedWorkflowAnswer>> {
    const memberId = visibleToMember(user);
    const { data, nextCursor } = await this.pages.read(
      'workflows',
      { limit, cursor },
      (range) => this.workflows.list({ ...filters, memberId, ...range }),
      (row) => row,
    );
    const projectIds = [...new Set(data.map(({ projectId }) => projectId))];
    const editable = await this.accessRights.projectsGranting(user, 'workflow:write', projectIds);
    return { data: data.map((row) => listedWorkflowAnswer(row, editable.has(row.projectId))), nextCursor };
  }

  @Post()
  @Operation({
    summary: 'Make a workflow',
    description: 'It begins inactive.',
    right: 'workflow:write',
    asksItself: true,
    body: NewWorkflowBody,
    answer: { status: 201, is: WorkflowAnswer },
    errors: [403, 404],
  })
  async create(
    @CurrentPrincipal() { user }: Principal,
    @JsonBody(NewWorkflowBody) { name, nodes = [], connections = {}, projectId: named }: NewWorkflowBody,
  ): Promise<WorkflowAnswer> {
    const projectId = await this.projectChoice.choose(user, 'workflow:write', named);
    return this.inserted({ projectId, name, active: false, nodes, connections });
  }

  @Get(':workflowId')
  @Operation({
    summary: 'Get a workflow',
    right: 'workflow:read',
    answer: { status: 200, is: WorkflowAnswer },
    errors: [404],
  })
  async get(@Param('workflowId', IdPipe) id: string): Promise<WorkflowAnswer> {
    return answerOf(await this.workflows.findById(id));
  }

  @Patch(':workflowId')
  @Operation({
    summary: 'Change a workflow',
    description: 'What is not given stays; nodes and connections are replaced whole.',
    right: 'workflow:write',
    body: WorkflowChangeBody,
    answer: { status: 200, is: WorkflowAnswer },
    errors: [403, 404],
  })
  change(
    @Param('workflowId', IdPipe) id: string,
    @JsonBody(WorkflowChangeBody) { name, nodes, connections }: WorkflowChangeBody,
  ): Promise<WorkflowAnswer> {
    if (name === undefined && nodes === undefined && connections === undefined)
      throw new ApiRefusal('bad_request', 'name, nodes or connections must be given');
    return this.updated(id, {
      ...(name === undefined ? {} : { name }),
      ...(nodes === undefined ? {} : { nodes }),
      ...(connections === undefined ? {} : { connections }),
    });
  }

  @Delete(':workflowId')
  @Operation({
    summary: 'Delete a workflow',
    right: 'workflow:write',
    answer: { status: 204 },
    errors: [403, 404],
  })
  async delete(@Param('workflowId', IdPipe) id: string): Promise<void> {
    await this.workflows.delete(id);
  }

  @Post(':workflowId/activate')
  @Operation({
    summary: 'Activate a workflow',
    right: 'workflow:write',
    answer: { status: 200, is: WorkflowAnswer },
    errors: [403, 404],
  })
  activate(@Param('workflowId', IdPipe) id: string): Promise<WorkflowAnswer> {
    return this.updated(id, { active: true });
  }

  @Post(':workflowId/deactivate')
  @Operation({
    summary: 'Deactivate a workflow',
    right: 'workflow:write',
    answer: { status: 200, is: WorkflowAnswer },
    errors: [403, 404],
  })
  deactivate(@Param('workflowId', IdPipe) id: string): Promise<WorkflowAnswer> {
    return this.updated(id, { active: false });
  }

  private async inserted(workflow: NewWorkflow): Promise<WorkflowAnswer> {
    try {
      const [made] = await this.transactions.run((transaction) =>
        this.workflows.insert(transaction, [workflow]),
      );
      return answerOf(made);
    } catch (error) {
      // The project was deleted after the right on it was checked.
      throw isForeignKeyViolation(error) ? new ApiRefusal('not_found') : error;
    }
  }

  private async updated(id: string, change: WorkflowChange): Promise<WorkflowAnswer> {
    return answerOf(await this.workflows.update(id, change));
  }
}

function answerOf(workflow: Workflow | undefined): WorkflowAnswer {
  if (workflow === undefined) throw new ApiRefusal('not_found');
  return workflowAnswer(workflow);
}
