// /api/v1/users: the users of the instance.
import { Get, Patch, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentPrincipal } from '../../access/authentication.guard.js';
import type { Principal } from '../../access/authentication.service.js';
import { MEMBER_ROLE } from '../../users/role.js';
import { UserRepository } from '../../users/user.repository.js';
import { ApiRefusal, found } from '../api/api-refusal.js';
import { JsonBody } from '../api/body/json-body.js';
import type { Page, PageRange } from '../api/pages.js';
import { pageById } from '../api/pages.js';
import type { PageQuery } from '../api/request-input.pipe.js';
import { pageQuery } from '../api/request-input.pipe.js';
import { ApiController } from '../operations/api-controller.decorator.js';
import { linksTo, Operation, PathId } from '../operations/operation.decorator.js';
import { NewUserBody, UserAnswer, userAnswer, UserChangeBody } from './user.dto.js';
import { UserAdministrationService } from './user-administration.service.js';

@ApiController('users', 'Users')
export class UserController {
  constructor(
    private readonly users: UserRepository,
    private readonly administration: UserAdministrationService,
  ) {}

  @Get()
  @Operation({
    summary: 'List the users of the instance',
    right: 'user:read',
    answer: { status: 200, pageOf: UserAnswer },
    errors: [400, 403],
  })
  list(@Query(pageQuery({})) query: PageQuery): Promise<Page<UserAnswer>> {
    const rowsOf = ({ afterId, limit }: PageRange) => this.users.list(afterId, limit);
    return pageById(query, rowsOf, userAnswer);
  }

  @Post()
  @Operation({
    summary: 'Create a user with a personal project',
    right: 'user:write',
    body: NewUserBody,
    answer: { status: 201, is: UserAnswer, links: linksTo('userId', ['User_get', 'User_change']) },
    errors: [403, 409],
  })
  async create(
    @CurrentPrincipal() principal: Principal,
    @Req() { id: requestId }: FastifyRequest,
    @JsonBody() body: NewUserBody,
  ): Promise<UserAnswer> {
    const { email, givenName = '', familyName = '', role = MEMBER_ROLE } = body;
    const newUser = { email, givenName, familyName, role };
    return userAnswer(await this.administration.create({ principal, requestId }, newUser));
  }

  @Get(':userId')
  @Operation({
    summary: 'Get a user',
    description: 'All users may get their own account.',
    right: 'user:read',
    answer: { status: 200, is: UserAnswer },
    errors: [404],
  })
  async get(@PathId('userId') id: string): Promise<UserAnswer> {
    return userAnswer(found(await this.users.findById(id)));
  }

  @Patch(':userId')
  @Operation({
    summary: 'Enable or disable a user, or change the global role',
    description: 'The owner and the acting user cannot be changed.',
    right: 'user:write',
    body: UserChangeBody,
    answer: { status: 200, is: UserAnswer },
    errors: [403, 404, 409],
  })
  async change(
    @CurrentPrincipal() principal: Principal,
    @Req() { id: requestId }: FastifyRequest,
    @PathId('userId') id: string,
    @JsonBody() change: UserChangeBody,
  ): Promise<UserAnswer> {
    if (Object.keys(change).length === 0)
      throw new ApiRefusal('bad_request', 'enabled or role must be given');
    return userAnswer(await this.administration.change({ principal, requestId }, id, change));
  }
}
