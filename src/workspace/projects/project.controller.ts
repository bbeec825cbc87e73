// /api/v1/projects: personal and team projects.
import { Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/authentication.guard.js';
import type { Principal } from '../../access/principal.js';
import { Transactions } from '../../platform/database/transaction.js';
import { ApiRefusal, found } from '../api/api-refusal.js';
import { JsonBody } from '../api/body/json-body.js';
import type { Page } from '../api/pages.js';
import { pageById } from '../api/pages.js';
import type { PageQuery } from '../api/request-input.pipe.js';
import { pageQuery } from '../api/request-input.pipe.js';
import { ApiController } from '../operations/api-controller.decorator.js';
import { linksTo, Operation, PathId } from '../operations/operation.decorator.js';
import { Quotas } from '../quotas/quotas.js';
import { memberScopeOf } from '../rights/rights.js';
import { ProjectAnswer, projectAnswer, ProjectBody } from './project.dto.js';
import { ProjectRepository } from './project.repository.js';

@ApiController('projects', 'Projects')
export class ProjectController {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly transactions: Transactions,
    private readonly quotas: Quotas,
  ) {}

  @Get()
  @Operation({
    summary: 'List the projects that the acting user may see',
    right: 'project:read',
    asksItself: true,
    answer: { status: 200, pageOf: ProjectAnswer },
    errors: [400],
  })
  list(
    @CurrentPrincipal() principal: Principal,
    @Query(pageQuery({})) query: PageQuery,
  ): Promise<Page<ProjectAnswer>> {
    const rowsOf = (range: { afterId?: string; limit: number }) =>
      this.projects.list(memberScopeOf(principal), range);
    return pageById(query, rowsOf, projectAnswer);
  }

  @Post()
  @Operation({
    summary: 'Create a team project',
    description: 'The acting user becomes its first project:admin.',
    right: 'project:create',
    body: ProjectBody,
    answer: {
      status: 201,
      is: ProjectAnswer,
      links: linksTo('projectId', [
        'Project_get',
        'Project_rename',
        'Project_delete',
        'ProjectMember_list',
        'ProjectMember_add',
      ]),
    },
    errors: [403, 409],
  })
  async create(
    @CurrentPrincipal() { user }: Principal,
    @JsonBody() { name }: ProjectBody,
  ): Promise<ProjectAnswer> {
    return projectAnswer(
      await this.transactions.run((transaction) =>
        this.quotas.within(transaction, { projects: user.id }, () =>
          this.projects.createTeam(transaction, name, user.id),
        ),
      ),
    );
  }

  @Get(':projectId')
  @Operation({
    summary: 'Get a project',
    right: 'project:read',
    answer: { status: 200, is: ProjectAnswer },
    errors: [404],
  })
  async get(@PathId('projectId') id: string): Promise<ProjectAnswer> {
    return projectAnswer(found(await this.projects.findById(id)));
  }

  @Patch(':projectId')
  @Operation({
    summary: 'Rename a team project',
    right: 'project:write',
    body: ProjectBody,
    answer: { status: 200, is: ProjectAnswer },
    errors: [403, 404, 409],
  })
  async rename(@PathId('projectId') id: string, @JsonBody() { name }: ProjectBody): Promise<ProjectAnswer> {
    await requireTeam(this.projects, id);
    return projectAnswer(found(await this.projects.rename(id, name)));
  }

  @Delete(':projectId')
  @Operation({
    summary: 'Delete a team project',
    description: 'Its workflows, credentials and memberships are deleted too.',
    right: 'project:write',
    answer: { status: 204 },
    errors: [403, 404, 409],
  })
  async delete(@PathId('projectId') id: string): Promise<void> {
    await requireTeam(this.projects, id);
    await this.projects.delete(id);
  }
}

/**
 * A project never changes its type, so the check needs no lock.
 * @throws ApiRefusal `not_found`, `personal_project`
 */
export async function requireTeam(projects: ProjectRepository, id: string): Promise<void> {
  const { type } = found(await projects.findById(id));
  if (type === 'personal') throw new ApiRefusal('personal_project');
}
