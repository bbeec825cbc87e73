// /api/v1/credentials: secrets for workflows. They can be written but not read.
import { Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../access/authentication.guard.js';
import type { Principal } from '../../access/authentication.service.js';
import { found } from '../api/api-refusal.js';
import { JsonBody } from '../api/body/json-body.js';
import type { Page, PageRange } from '../api/pages.js';
import { pageById } from '../api/pages.js';
import type { PageQuery } from '../api/request-input.pipe.js';
import { pageQuery } from '../api/request-input.pipe.js';
import { ApiController } from '../operations/api-controller.decorator.js';
import { linksTo, Operation, PathId } from '../operations/operation.decorator.js';
import { ProjectChoice } from '../rights/access-rights.js';
import {
  CredentialAnswer,
  credentialAnswer,
  CredentialChangeBody,
  NewCredentialBody,
} from './credential.dto.js';
import { CredentialRepository } from './credential.repository.js';
import { CredentialService } from './credential.service.js';
import type { CredentialSchema } from './credential-types.js';
import { CREDENTIAL_TYPE_NAMES, CREDENTIAL_TYPES } from './credential-types.js';

const SCHEMA_ANSWER = {
  type: 'object',
  additionalProperties: true,
  required: ['type', 'properties', 'required'],
  properties: {
    type: { type: 'string', enum: ['object'] },
    properties: {
      type: 'object',
      additionalProperties: true,
      description: 'The properties of `data`, by name.',
    },
    required: { type: 'array', items: { type: 'string' }, description: 'Names of required properties.' },
  },
};

@ApiController('credentials', 'Credentials')
export class CredentialController {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly service: CredentialService,
    private readonly projectChoice: ProjectChoice,
  ) {}

  /** @rule 4.5.3 All credentials of the instance are listed page by page, each with its project. */
  @Get()
  @Operation({
    summary: 'List all credentials of the instance with their projects',
    right: 'credential:list',
    feature: 'credentials-list',
    answer: { status: 200, pageOf: CredentialAnswer },
    errors: [400, 403],
  })
  list(@Query(pageQuery({})) query: PageQuery): Promise<Page<CredentialAnswer>> {
    const rowsOf = (range: PageRange) => this.credentials.list(range);
    return pageById(query, rowsOf, credentialAnswer);
  }

  @Get('schema/:type')
  @ApiParam({ name: 'type', description: 'Type of credential', enum: [...CREDENTIAL_TYPE_NAMES] })
  @Operation({
    summary: "Get the JSON Schema of a credential type's data",
    answer: { status: 200, schema: SCHEMA_ANSWER },
    errors: [404],
  })
  schema(@Param('type') type: string): CredentialSchema {
    return found(CREDENTIAL_TYPES.get(type));
  }

  @Post()
  @Operation({
    summary: 'Create a credential',
    right: 'credential:write',
    asksItself: true,
    body: NewCredentialBody,
    answer: {
      status: 201,
      is: CredentialAnswer,
      links: linksTo('credentialId', ['Credential_get', 'Credential_change', 'Credential_delete']),
    },
    errors: [403, 404, 409],
  })
  async create(
    @CurrentPrincipal() principal: Principal,
    @JsonBody() { name, type, data, projectId: named }: NewCredentialBody,
  ): Promise<CredentialAnswer> {
    const projectId = await this.projectChoice.choose(principal, 'credential:write', named);
    return credentialAnswer(await this.service.create({ projectId, name, type, data }));
  }

  @Get(':credentialId')
  @Operation({
    summary: 'Get a credential, without its data',
    right: 'credential:read',
    answer: { status: 200, is: CredentialAnswer },
    errors: [404],
  })
  async get(@PathId('credentialId') id: string): Promise<CredentialAnswer> {
    return credentialAnswer(await this.service.existing(id));
  }

  @Patch(':credentialId')
  @Operation({
    summary: 'Change a credential',
    description: 'The new data replaces the old. If isPartialData is true, it is merged instead.',
    right: 'credential:write',
    body: CredentialChangeBody,
    answer: { status: 200, is: CredentialAnswer },
    errors: [403, 404],
  })
  async change(
    @PathId('credentialId') id: string,
    @JsonBody() patch: CredentialChangeBody,
  ): Promise<CredentialAnswer> {
    return credentialAnswer(await this.service.change(id, patch));
  }

  @Delete(':credentialId')
  @Operation({
    summary: 'Delete a credential',
    right: 'credential:write',
    answer: { status: 204 },
    errors: [403, 404],
  })
  async delete(@PathId('credentialId') id: string): Promise<void> {
    await this.credentials.delete(id);
  }
}
