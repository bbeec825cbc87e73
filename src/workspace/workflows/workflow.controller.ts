// /api/v1/workflows and workflow-count: stored workflow definitions; nothing here runs them.
import { Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import { CurrentPrincipal } from '../../access/authentication.guard.js';
import type { Principal } from '../../access/authentication.service.js';
import { isForeignKeyViolation } from '../../platform/database/database-error.js';
import { Transactions } from '../../platform/database/transaction.js';
import { ApiRefusal, found } from '../api/api-refusal.js';
import { JsonBody } from '../api/body/json-body.js';
import type { Page, SortedRange } from '../api/pages.js';
import { isPlaceByText, isPlaceByTime, MAX_CURSOR_CHARACTERS, sortedPage } from '../api/pages.js';
import {
  choiceParameter,
  flagParameter,
  idParameter,
  MAX_SEARCH_CHARACTERS,
  pageQuery,
  QueryPipe,
  searchParameter,
  textParameter,
} from '../api/request-input.pipe.js';
import { ApiController } from '../operations/api-controller.decorator.js';
import { linksTo, Operation, OptionalQuery, PathId } from '../operations/operation.decorator.js';
import { Quotas } from '../quotas/quotas.js';
import { AccessRights, ProjectChoice } from '../rights/access-rights.js';
import { memberScopeOf } from '../rights/rights.js';
import {
  ListedWorkflowAnswer,
  listedWorkflowAnswer,
  NewWorkflowBody,
  WorkflowAnswer,
  workflowAnswer,
  WorkflowChangeBody,
  WorkflowCountAnswer,
} from './workflow.dto.js';
import type { NewWorkflow, Workflow, WorkflowChange } from './workflow.repository.js';
import { WorkflowRepository } from './workflow.repository.js';
import type { ListedWorkflow } from './workflow-list.query.js';
import { MAX_COUNT, SORT_KEYS } from './workflow-list.query.js';

const PLACES = { updatedAt: isPlaceByTime, name: isPlaceByText };

const listQuery = pageQuery({
  active: flagParameter(),
  name: textParameter(),
  projectId: idParameter(),
  sort: choiceParameter(SORT_KEYS),
  search: searchParameter(),
});
type WorkflowListQuery = ReturnType<typeof listQuery.transform>;
const countQuery = new QueryPipe(
  z.strictObject({ active: flagParameter(), projectId: idParameter(), search: searchParameter() }),
);

const ActiveQuery = () => OptionalQuery('active', 'Active ones, or others', { type: 'boolean' });
const ProjectQuery = () =>
  OptionalQuery('projectId', 'Those of one project', { type: 'string', format: 'uuid' });
const SearchQuery = () =>
  OptionalQuery('search', 'A part of the name, in upper or lower case', {
    type: 'string',
    maxLength: MAX_SEARCH_CHARACTERS,
  });

@ApiController('workflows', 'Workflows')
export class WorkflowController {
  constructor(
    private readonly workflows: WorkflowRepository,
    private readonly accessRights: AccessRights,
    private readonly projectChoice: ProjectChoice,
    private readonly transactions: Transactions,
    private readonly quotas: Quotas,
  ) {}

  @Get()
  @Operation({
    summary: 'List the workflows that the acting user may see',
    description:
      'Without nodes and connections, which the workflow itself answers. The last change comes first, or as sort says. ' +
      'A workflow that changes its place between two pages may be missing in them, or be in both.',
    right: 'workflow:read',
    asksItself: true,
    answer: { status: 200, pageOf: ListedWorkflowAnswer, maxCursorCharacters: MAX_CURSOR_CHARACTERS },
    errors: [400],
  })
  @ActiveQuery()
  @OptionalQuery('name', 'The whole name', { type: 'string' })
  @ProjectQuery()
  @OptionalQuery('sort', 'By the last change, the latest first, unless given; or by name, from A to Z', {
    type: 'string',
    enum: [...SORT_KEYS],
  })
  @SearchQuery()
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query(listQuery) query: WorkflowListQuery,
  ): Promise<Page<ListedWorkflowAnswer>> {
    const { data, nextCursor } = await this.pageOf(principal, query);
    const projectIds = [...new Set(data.map(({ projectId }) => projectId))];
    const editable = await this.accessRights.projectsGranting(principal, 'workflow:write', projectIds);
    return { data: data.map((row) => listedWorkflowAnswer(row, editable.has(row.projectId))), nextCursor };
  }

  @Post()
  @Operation({
    summary: 'Create a workflow',
    description: 'It begins inactive.',
    right: 'workflow:write',
    asksItself: true,
    body: NewWorkflowBody,
    answer: {
      status: 201,
      is: WorkflowAnswer,
      links: linksTo('workflowId', [
        'Workflow_get',
        'Workflow_change',
        'Workflow_delete',
        'Workflow_activate',
        'Workflow_deactivate',
      ]),
    },
    errors: [403, 404, 409],
  })
  async create(
    @CurrentPrincipal() principal: Principal,
    @JsonBody() { name, nodes = [], connections = {}, projectId: named }: NewWorkflowBody,
  ): Promise<WorkflowAnswer> {
    const projectId = await this.projectChoice.choose(principal, 'workflow:write', named);
    return this.inserted({ projectId, name, active: false, nodes, connections });
  }

  @Get(':workflowId')
  @Operation({
    summary: 'Get a workflow',
    right: 'workflow:read',
    answer: { status: 200, is: WorkflowAnswer },
    errors: [404],
  })
  async get(
    @CurrentPrincipal() principal: Principal,
    @PathId('workflowId') id: string,
  ): Promise<WorkflowAnswer> {
    const workflow = found(await this.workflows.findById(id));
    const { projectId } = workflow;
    const editable = await this.accessRights.projectsGranting(principal, 'workflow:write', [projectId]);
    return workflowAnswer(workflow, editable.has(projectId));
  }

  @Patch(':workflowId')
  @Operation({
    summary: 'Change a workflow',
    description: 'Missing members stay as they are; nodes and connections are replaced whole.',
    right: 'workflow:write',
    body: WorkflowChangeBody,
    answer: { status: 200, is: WorkflowAnswer },
    errors: [403, 404],
  })
  change(@PathId('workflowId') id: string, @JsonBody() change: WorkflowChangeBody): Promise<WorkflowAnswer> {
    if (Object.keys(change).length === 0)
      throw new ApiRefusal('bad_request', 'name, nodes or connections must be given');
    return this.updated(id, change);
  }

  @Delete(':workflowId')
  @Operation({
    summary: 'Delete a workflow',
    right: 'workflow:write',
    answer: { status: 204 },
    errors: [403, 404],
  })
  async delete(@PathId('workflowId') id: string): Promise<void> {
    await this.workflows.delete(id);
  }

  @Post(':workflowId/activate')
  @Operation({
    summary: 'Activate a workflow',
    right: 'workflow:write',
    answer: { status: 200, is: WorkflowAnswer },
    errors: [403, 404],
  })
  activate(@PathId('workflowId') id: string): Promise<WorkflowAnswer> {
    return this.updated(id, { active: true });
  }

  @Post(':workflowId/deactivate')
  @Operation({
    summary: 'Deactivate a workflow',
    right: 'workflow:write',
    answer: { status: 200, is: WorkflowAnswer },
    errors: [403, 404],
  })
  deactivate(@PathId('workflowId') id: string): Promise<WorkflowAnswer> {
    return this.updated(id, { active: false });
  }

  private pageOf(principal: Principal, { limit, cursor, sort = 'updatedAt', ...query }: WorkflowListQuery) {
    const scope = { sort, ...query, ...memberScopeOf(principal) };
    const rowsOf = (range: SortedRange) => this.workflows.list({ ...scope, ...range });
    return sortedPage(PLACES[sort], { limit, cursor }, rowsOf, (row): ListedWorkflow => row);
  }

  private async inserted(workflow: NewWorkflow): Promise<WorkflowAnswer> {
    try {
      const [made] = await this.transactions.run((transaction) =>
        this.quotas.within(transaction, { workflows: workflow.projectId }, () =>
          this.workflows.insert(transaction, [workflow]),
        ),
      );
      return changedAnswer(made);
    } catch (error) {
      // The project was deleted after its right was checked.
      throw isForeignKeyViolation(error) ? new ApiRefusal('not_found') : error;
    }
  }

  private async updated(id: string, change: WorkflowChange): Promise<WorkflowAnswer> {
    return changedAnswer(await this.workflows.update(id, change));
  }
}

/** Not below `/workflows`, where other methods would take the path for a workflow's. */
@ApiController('workflow-count', 'Workflows')
export class WorkflowCountController {
  constructor(private readonly workflows: WorkflowRepository) {}

  @Get()
  @Operation({
    summary: 'Count the workflows that the acting user may see',
    description: `Up to ${MAX_COUNT}.`,
    right: 'workflow:read',
    asksItself: true,
    answer: { status: 200, is: WorkflowCountAnswer },
    errors: [400],
  })
  @ActiveQuery()
  @ProjectQuery()
  @SearchQuery()
  get(
    @CurrentPrincipal() principal: Principal,
    @Query(countQuery) filters: ReturnType<typeof countQuery.transform>,
  ): Promise<WorkflowCountAnswer> {
    return this.workflows.count({ ...filters, ...memberScopeOf(principal) });
  }
}

/** The response for a workflow that was just created or changed. */
function changedAnswer(workflow: Workflow | undefined): WorkflowAnswer {
  return workflowAnswer(found(workflow), true);
}
