// Answers the operator's pages and the files they are made of. They tell nothing by themselves: they ask the operator's API.
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { REVALIDATED, answerAsset, answerFile } from '../../web/file-answer.js';
import { OperatorPageFiles } from './operator-page.files.js';

@Controller('admin')
export class OperatorPageController {
  constructor(private readonly files: OperatorPageFiles) {}

  /** @rule D113 The operator's pages are one document, which names nobody in its addresses. See public/main.js for what outlives a sign-in. */
  @Get()
  async page(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.page, REVALIDATED);
  }

  @Get('assets/:version/:name')
  async asset(
    @Param('version') version: string,
    @Param('name') name: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await answerAsset(reply, this.files.assets, { version, name });
  }
}
