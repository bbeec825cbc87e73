// Answers files of the instance: compressed, with what browsers need to keep them.
import { Get, NotFoundException, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { PublicFile, VersionedAssets } from './public-file.js';

/** To be asked for each time, and answered with 304 while nothing has changed. */
const REVALIDATED = 'no-cache';
/** For a year: the address changes with the content. */
const KEPT = 'public, max-age=31536000, immutable';

/** A controller of a page and of the files that it is made of. */
export abstract class PageController {
  protected constructor(
    private readonly parts: { readonly page: PublicFile; readonly assets: VersionedAssets },
  ) {}

  /** The page is the same for all users; it asks the API who is signed in. */
  @Get()
  async page(@Res() reply: FastifyReply): Promise<void> {
    await answerFile(reply, this.parts.page);
  }

  /**
   * While instances are being upgraded a page may ask for files of another version: it gets these, for this once.
   * @throws NotFoundException for a name that none of them has
   */
  @Get('assets/:version/:name')
  async asset(
    @Param('version') version: string,
    @Param('name') name: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { assets } = this.parts;
    await answerFile(reply, assets.find(name), version === assets.version ? KEPT : REVALIDATED);
  }
}

/** @throws NotFoundException where there is no file */
export async function answerFile(
  reply: FastifyReply,
  file: PublicFile | undefined,
  cacheControl = REVALIDATED,
): Promise<void> {
  if (file === undefined) throw new NotFoundException();
  const { headers } = reply.request;
  const { content, entityTag, encoding } = await file.representationFor(headers['accept-encoding']);
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

/** Whether `If-None-Match` names a tag. It compares weakly: a proxy that compresses marks our tags as weak (§13.1.2). */
function namesEntityTag(ifNoneMatch = '', entityTag: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(entityTag);
}
