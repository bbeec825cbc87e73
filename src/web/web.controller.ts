// Answers the page that the frame shows, the files it is made of, and the script for the pages around it.
import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { PageController } from '../platform/http/page.controller.js';
import type { WebOptions } from './page-templates.js';
import { WEB_OPTIONS } from './page-templates.js';

const RESOURCE_POLICY = 'cross-origin-resource-policy';

@Controller()
export class WebController extends PageController {
  constructor(@Inject(WEB_OPTIONS) { publicDirectory }: WebOptions) {
    super(publicDirectory);
  }

  /** The target of a renewal, in its own frame, or of a login whose page reports no session. */
  @Get('renewed')
  renewed(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'renewed.html');
  }

  /** By which the script for host pages ends the session where the frame shows another page than ours. */
  @Get('sign-out')
  signOut(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'sign-out.html');
  }

  /** For answers that name no icon, such as JSON. */
  @Get('favicon.ico')
  favicon(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'favicon.ico');
  }

  /** Pages of other sites load it, which the header of all other answers forbids. */
  @Get('embed.js')
  @Header(RESOURCE_POLICY, 'cross-origin')
  @Header('access-control-allow-origin', '*')
  embedScript(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'embed.js');
  }

  /** Its types, for who writes the host page in TypeScript. */
  @Get('embed.d.ts')
  embedTypes(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'embed.d.txt');
  }
}
