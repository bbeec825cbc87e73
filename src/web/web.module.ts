// The page in the frame, and the script for its host page.
import { join } from 'node:path';
import { Controller, Get, Header, Inject, Module, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { PageController, SOURCE_DIRECTORY } from '../platform/http/page.controller.js';
import { PageTemplates } from './page-templates.js';

const RESOURCE_POLICY = 'cross-origin-resource-policy';

@Controller()
export class WebController extends PageController {
  constructor(@Inject(SOURCE_DIRECTORY) sourceDirectory: string) {
    super(join(sourceDirectory, 'web', 'public'));
  }

  /** For responses that name no icon, such as JSON. */
  @Get('favicon.ico')
  favicon(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'favicon.ico');
  }

  /** Other sites' pages load it, which the header of all other responses forbids. */
  @Get('embed.js')
  @Header(RESOURCE_POLICY, 'cross-origin')
  @Header('access-control-allow-origin', '*')
  embedScript(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'embed.js');
  }

  /** The script's types, for host pages in TypeScript. */
  @Get('embed.d.ts')
  embedTypes(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'embed.d.txt');
  }
}

@Module({ controllers: [WebController], providers: [PageTemplates], exports: [PageTemplates] })
export class WebModule {}
