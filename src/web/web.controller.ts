// Answers the page that the frame shows, the files it is made of, and the script for the pages around it.
import { Controller, Get, Header, NotFoundException, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { namesEntityTag } from '../http/entity-tag.js';
import type { PublicFile } from './public-files.js';
import { PublicFiles } from './public-files.js';

/** To be asked for each time, and answered with 304 while nothing has changed. */
const REVALIDATED = 'no-cache';
const RESOURCE_POLICY = 'cross-origin-resource-policy';
/** For a year: the address changes with the content. */
const KEPT = 'public, max-age=31536000, immutable';

@Controller()
export class WebController {
  constructor(private readonly files: PublicFiles) {}

  /** The page is the same for everybody; it asks the API who is signed in. */
  @Get()
  async page(@Res() reply: FastifyReply): Promise<void> {
    await answer(reply, this.files.page, REVALIDATED);
  }

  /** Where a login leads to that renews, in a frame of its own, or that goes on to a page that tells nothing by itself. */
  @Get('renewed')
  async renewed(@Res() reply: FastifyReply): Promise<void> {
    await answer(reply, this.files.renewed, REVALIDATED);
  }

  /** By which the script for host pages ends the session where the frame shows another page than ours. */
  @Get('sign-out')
  async signOut(@Res() reply: FastifyReply): Promise<void> {
    await answer(reply, this.files.signOut, REVALIDATED);
  }

  @Get('favicon.ico')
  async favicon(@Res() reply: FastifyReply): Promise<void> {
    await answer(reply, this.files.favicon, REVALIDATED);
  }

  /** Pages of other sites load it, which the header of all other answers forbids. */
  @Get('embed.js')
  @Header(RESOURCE_POLICY, 'cross-origin')
  async embedScript(@Res() reply: FastifyReply): Promise<void> {
    await answer(reply, this.files.embedScript, REVALIDATED);
  }

  @Get('embed.d.ts')
  async embedTypes(@Res() reply: FastifyReply): Promise<void> {
    await answer(reply, this.files.embedTypes, REVALIDATED);
  }

  /** While instances are being upgraded a page may ask for files of another version: it gets these, for this once. */
  @Get('assets/:version/:name')
  async asset(
    @Param('version') version: string,
    @Param('name') name: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const file = this.files.asset(name);
    if (file === undefined) throw new NotFoundException();
    await answer(reply, file, version === this.files.version ? KEPT : REVALIDATED);
  }
}

async function answer(reply: FastifyReply, file: PublicFile, cacheControl: string): Promise<void> {
  const { headers } = reply.request;
  const { content, entityTag, encoding } = file.representationFor(headers['accept-encoding']);
  // Answers are not stored unless a route says otherwise; this one does.
  reply.removeHeader('pragma').headers({
    'cache-control': cacheControl,
    etag: entityTag,
    vary: 'accept-encoding',
    ...(encoding && { 'content-encoding': encoding }),
  });
  if (namesEntityTag(headers['if-none-match'], entityTag)) return reply.status(304).send();
  return reply.type(file.contentType).send(content);
}
