// Answers the page that the frame shows, the files it is made of, and the script for the pages around it.
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { REVALIDATED, answerAsset, answerFile } from './file-answer.js';
import { PublicFiles } from './public-files.js';

const RESOURCE_POLICY = 'cross-origin-resource-policy';

@Controller()
export class WebController {
  constructor(private readonly files: PublicFiles) {}

  /** The page is the same for everybody; it asks the API who is signed in. */
  @Get()
  async page(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.page, REVALIDATED);
  }

  /** Where a login leads to that renews, in a frame of its own, or that goes on to a page that tells nothing by itself. */
  @Get('renewed')
  async renewed(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.renewed, REVALIDATED);
  }

  /** By which the script for host pages ends the session where the frame shows another page than ours. */
  @Get('sign-out')
  async signOut(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.signOut, REVALIDATED);
  }

  @Get('favicon.ico')
  async favicon(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.favicon, REVALIDATED);
  }

  /** Pages of other sites load it, which the header of all other answers forbids. */
  @Get('embed.js')
  @Header(RESOURCE_POLICY, 'cross-origin')
  async embedScript(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.embedScript, REVALIDATED);
  }

  @Get('embed.d.ts')
  async embedTypes(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.files.embedTypes, REVALIDATED);
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
