// Answers a file of ours: compressed, with what browsers need to keep it.
import { NotFoundException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { namesEntityTag } from '../platform/http/entity-tag.js';
import type { PublicFile, VersionedAssets } from './public-file.js';

/** To be asked for each time, and answered with 304 while nothing has changed. */
export const REVALIDATED = 'no-cache';
/** For a year: the address changes with the content. */
const KEPT = 'public, max-age=31536000, immutable';

/**
 * While instances are being upgraded a page may ask for files of another version: it gets these, for this once.
 * @throws NotFoundException for a name that none of them has
 */
export async function answerAsset(
  reply: FastifyReply,
  assets: VersionedAssets,
  { version, name }: { version: string; name: string },
): Promise<void> {
  const file = assets.find(name);
  if (file === undefined) throw new NotFoundException();
  await answerFile(reply, file, version === assets.version ? KEPT : REVALIDATED);
}

export async function answerFile(reply: FastifyReply, file: PublicFile, cacheControl: string): Promise<void> {
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
