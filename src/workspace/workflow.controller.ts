// GET /api/v1/workflows.
import { Controller, Get, Query, UseGuards, UseInterceptors } from '@nestjs/common';
import { AuthenticationGuard } from '../access/authentication.guard.js';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { visibleToMember } from './access-rights.js';
import { ApiAuditInterceptor } from './api-audit.interceptor.js';
import type { Page, PageQuery } from './pagination.pipe.js';
import { PageQueryPipe, pageOf } from './pagination.pipe.js';
import type { Workflow } from './workflow.repository.js';
import { WorkflowRepository } from './workflow.repository.js';

/** A workflow as the API answers it. */
export interface WorkflowAnswer {
  id: string;
  projectId: string;
  name: string;
  active: boolean;
  nodes: readonly unknown[];
  connections: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
}

@Controller('api/v1/workflows')
@UseGuards(AuthenticationGuard)
@UseInterceptors(ApiAuditInterceptor)
export class WorkflowController {
  constructor(private readonly workflows: WorkflowRepository) {}

  /** @rule 4.3 An API call answers what the acting user may see. */
  @Get()
  async list(
    @CurrentPrincipal() { user }: Principal,
    @Query(PageQueryPipe) { limit, afterId }: PageQuery,
  ): Promise<Page<WorkflowAnswer>> {
    const memberId = visibleToMember(user);
    const rows = await this.workflows.list({
      ...(memberId === undefined ? {} : { memberId }),
      ...(afterId === undefined ? {} : { afterId }),
      // One more than asked for tells whether there is a next page.
      limit: limit + 1,
    });
    return pageOf(rows, limit, workflowAnswer);
  }
}

function workflowAnswer(workflow: Workflow): WorkflowAnswer {
  const { id, projectId, name, active, nodes, connections, createdAt, updatedAt } = workflow;
  return {
    id,
    projectId,
    name,
    active,
    nodes,
    connections,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
