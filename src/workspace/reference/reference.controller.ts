// /api/v1/openapi.json and /api/v1/docs: the description of the API, for programs and for people.
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { answerFile } from '../../platform/http/page.controller.js';
import { ApiDescription } from './api-description.js';
import { REFERENCE_PAGE, ReferenceFiles } from './reference-files.js';

@Controller('api/v1')
export class ReferenceController {
  constructor(
    private readonly description: ApiDescription,
    private readonly files: ReferenceFiles,
  ) {}

  /** To be asked for each time: it changes with the version of the service only. */
  @Get('openapi.json')
  async document(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.description.published());
  }

  @Get('docs')
  async page(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, await this.files.find(REFERENCE_PAGE));
  }

  @Get('docs/:name')
  async file(@Param('name') name: string, @Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, await this.files.find(name));
  }
}
