// /api/v1/projects: personal and team projects.
import { Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/authentication.guard.js';
import type { Principal } from '../../access/authentication.service.js';
import { isForeignKeyViolation, isUniqueViolation } from '../../platform/database/database-error.js';
import { Transactions } from '../../platform/database/transaction.js';
import { UserRepository } from '../../users/user.repository.js';
import { ApiRefusal, found } from '../api/api-refusal.js';
import { JsonBody } from '../api/body/json-body.js';
import type { Page, PageRange } from '../api/pages.js';
import { pageById } from '../api/pages.js';
import type { PageQuery } from '../api/request-input.pipe.js';
import { pageQuery } from '../api/request-input.pipe.js';
import { ApiController } from '../operations/api-controller.decorator.js';
import { linksTo, Operation, PathId } from '../operations/operation.decorator.js';
import { Quotas } from '../quotas/quotas.js';
import { memberScopeOf } from '../rights/rights.js';
import {
  MemberAnswer,
  MemberRoleBody,
  NewMemberBody,
  ProjectAnswer,
  projectAnswer,
  ProjectBody,
} from './project.dto.js';
import type { ProjectMember } from './project.repository.js';
import { ProjectMemberRepository, ProjectRepository } from './project.repository.js';

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
async function requireTeam(projects: ProjectRepository, id: string): Promise<void> {
  const { type } = found(await projects.findById(id));
  if (type === 'personal') throw new ApiRefusal('personal_project');
}

@ApiController('projects/:projectId/users', 'Members of projects')
export class ProjectMemberController {
  constructor(
    private readonly members: ProjectMemberRepository,
    private readonly projects: ProjectRepository,
    private readonly users: UserRepository,
    private readonly transactions: Transactions,
    private readonly quotas: Quotas,
  ) {}

  /** @rule 4.5.2 The members of a project are listed with their roles, if the licence has the feature. */
  @Get()
  @Operation({
    summary: 'List the members of a project with their roles',
    right: 'member:read',
    feature: 'project-members',
    answer: { status: 200, pageOf: MemberAnswer },
    errors: [400, 403, 404],
  })
  list(
    @PathId('projectId') projectId: string,
    @Query(pageQuery({})) query: PageQuery,
  ): Promise<Page<MemberAnswer>> {
    const rowsOf = (range: PageRange) => this.members.list(projectId, range);
    return pageById(query, rowsOf, (row) => row);
  }

  @Post()
  @Operation({
    summary: 'Add a user to a team project',
    description: 'Not oneself.',
    right: 'member:write',
    body: NewMemberBody,
    answer: {
      status: 201,
      is: MemberAnswer,
      links: linksTo('userId', ['ProjectMember_changeRole', 'ProjectMember_remove'], 'projectId'),
    },
    errors: [403, 404, 409],
  })
  async add(
    @CurrentPrincipal() principal: Principal,
    @PathId('projectId') projectId: string,
    @JsonBody() { userId, role }: NewMemberBody,
  ): Promise<MemberAnswer> {
    await requireTeam(this.projects, projectId);
    refuseOwnRole(principal, userId);
    if ((await this.users.findById(userId)) === undefined)
      throw new ApiRefusal('bad_request', 'userId must be the id of a user');
    await this.insert({ projectId, userId, role });
    return this.answer(projectId, userId);
  }

  @Patch(':userId')
  @Operation({
    summary: "Change a member's role",
    description: 'Not the own one.',
    right: 'member:write',
    body: MemberRoleBody,
    answer: { status: 200, is: MemberAnswer },
    errors: [403, 404, 409],
  })
  async changeRole(
    @CurrentPrincipal() principal: Principal,
    @PathId('projectId') projectId: string,
    @PathId('userId') userId: string,
    @JsonBody() { role }: MemberRoleBody,
  ): Promise<MemberAnswer> {
    await requireTeam(this.projects, projectId);
    refuseOwnRole(principal, userId);
    await this.members.changeRole({ projectId, userId, role });
    return this.answer(projectId, userId);
  }

  @Delete(':userId')
  @Operation({
    summary: 'Take a member out of a team',
    right: 'member:write',
    answer: { status: 204 },
    errors: [403, 404, 409],
  })
  async remove(@PathId('projectId') projectId: string, @PathId('userId') userId: string): Promise<void> {
    await requireTeam(this.projects, projectId);
    if (!(await this.members.delete(projectId, userId))) throw new ApiRefusal('not_found');
  }

  private async insert(member: ProjectMember): Promise<void> {
    const owners = { members: member.projectId, projects: member.userId };
    try {
      await this.transactions.run((transaction) =>
        this.quotas.within(transaction, owners, () => this.members.insert(transaction, member)),
      );
    } catch (error) {
      if (isUniqueViolation(error)) throw new ApiRefusal('already_member');
      // User or project was deleted meanwhile; the response will say so.
      if (!isForeignKeyViolation(error)) throw error;
    }
  }

  private async answer(projectId: string, userId: string): Promise<MemberAnswer> {
    return found(await this.members.find(projectId, userId));
  }
}

/** Otherwise users could keep a role that a token's claim gave them, after the claim is gone. */
function refuseOwnRole({ rightsOf }: Principal, userId: string): void {
  if (rightsOf.some(({ id }) => id === userId))
    throw new ApiRefusal('own_account', 'You cannot give yourself a role in a project');
}
