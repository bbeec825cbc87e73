// Answers the page that the frame shows, the files it is made of, and the script for the pages around it.
import { Controller, Get, Header, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { PageController, answerFile } from '../platform/http/page.controller.js';
import { PublicFiles } from './public-files.js';

const RESOURCE_POLICY = 'cross-origin-resource-policy';

@Controller()
export class WebController extends PageController {
  constructor(private readonly files: PublicFiles) {
    super(files);
  }

  /** The target of a renewal, in its own frame, or of a login whose page reports no session. */
  @Get('renewed')
  async renewed(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.renewed);
  }

  /** By which the script for host pages ends the session where the frame shows another page than ours. */
  @Get('sign-out')
  async signOut(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.signOut);
  }

  @Get('favicon.ico')
  async favicon(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.favicon);
  }

  /** Pages of other sites load it, which the header of all other answers forbids. */
  @Get('embed.js')
  @Header(RESOURCE_POLICY, 'cross-origin')
  @Header('access-control-allow-origin', '*')
  async embedScript(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.embedScript);
  }

  @Get('embed.d.ts')
  async embedTypes(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.embedTypes);
  }
}
