// Answers the page that the frame shows, the files it is made of, and the script for the pages around it.
import { Controller, Get, Header, Headers, NotFoundException, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { PublicFile } from './public-files.js';
import { PublicFiles } from './public-files.js';

/** To be asked for each time, and answered with 304 while nothing has changed. */
const REVALIDATED = 'no-cache';
/** For a year: the address changes with the content. */
const RESOURCE_POLICY = 'cross-origin-resource-policy';
const KEPT = 'public, max-age=31536000, immutable';

@Controller()
export class WebController {
  constructor(private readonly files: PublicFiles) {}

  /** The page is the same for everybody; it asks the API who is signed in. */
  @Get()
  async page(@Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    await answer(reply, this.files.page, REVALIDATED, known);
  }

  /** Where the login of a renewal leads to, in a frame of its own: it tells the one that the visitor sees. */
  @Get('renewed')
  async renewed(
    @Headers('if-none-match') known: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await answer(reply, this.files.renewed, REVALIDATED, known);
  }

  /** Pages of other sites load it, which the header of all other answers forbids. */
  @Get('embed.js')
  @Header(RESOURCE_POLICY, 'cross-origin')
  async embedScript(
    @Headers('if-none-match') known: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await answer(reply, this.files.embedScript, REVALIDATED, known);
  }

  @Get('embed.d.ts')
  async embedTypes(
    @Headers('if-none-match') known: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await answer(reply, this.files.embedTypes, REVALIDATED, known);
  }

  /** While instances are being upgraded a page may ask for files of another version: it gets these, for this once. */
  @Get('assets/:version/:name')
  async asset(
    @Param('version') version: string,
    @Param('name') name: string,
    @Headers('if-none-match') known: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const file = this.files.asset(name);
    if (file === undefined) throw new NotFoundException();
    await answer(reply, file, version === this.files.version ? KEPT : REVALIDATED, known);
  }
}

async function answer(
  reply: FastifyReply,
  { content, contentType, entityTag }: PublicFile,
  cacheControl: string,
  known: string | undefined,
): Promise<void> {
  // Answers are not stored unless a route says otherwise; this one does.
  reply.removeHeader('pragma').headers({ 'cache-control': cacheControl, etag: entityTag });
  if (known !== undefined && names(known, entityTag)) return reply.status(304).send();
  return reply.type(contentType).send(content);
}

/** `If-None-Match` compares weakly: a proxy that compresses marks our tags as weak (RFC 9110 §13.1.2). */
function names(ifNoneMatch: string, entityTag: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(entityTag);
}
