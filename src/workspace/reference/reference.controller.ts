// /api/v1/openapi.json and /api/v1/docs: the description of the API, for programs and for people.
import { Controller, Get, Header, NotFoundException, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { namesEntityTag } from '../../platform/http/entity-tag.js';
import { ApiDescription } from './api-description.js';
import type { ReferenceFile } from './reference-files.js';
import { REFERENCE_PAGE, ReferenceFiles } from './reference-files.js';

/** To be asked for each time: it changes with the version of the service only. */
const REVALIDATED = 'no-cache';

@Controller('api/v1')
export class ReferenceController {
  constructor(
    private readonly description: ApiDescription,
    private readonly files: ReferenceFiles,
  ) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('cache-control', REVALIDATED)
  document(): Promise<string> {
    return this.description.published();
  }

  @Get('docs')
  async page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.answer(REFERENCE_PAGE, request, reply);
  }

  @Get('docs/:name')
  async file(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.answer(name, request, reply);
  }

  private async answer(name: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const file = await this.files.find(name);
    if (file === undefined) throw new NotFoundException();
    const form = formFor(request, file);
    // Answers are not stored unless a route says otherwise; this one does.
    reply.removeHeader('pragma').headers({
      'cache-control': REVALIDATED,
      etag: form.entityTag,
      vary: 'accept-encoding',
      ...(form.encoding === undefined ? {} : { 'content-encoding': form.encoding }),
    });
    if (namesEntityTag(request.headers['if-none-match'], form.entityTag)) return reply.status(304).send();
    return reply.type(file.contentType).send(form.content);
  }
}

/** Compressed for who takes that, with a tag of its own (RFC 9110 §8.8.3.3). */
function formFor({ headers }: FastifyRequest, { content, gzipped, entityTag }: ReferenceFile) {
  const accepted = headers['accept-encoding'];
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(accepted ?? ''));
  return takesGzip
    ? { content: gzipped, encoding: 'gzip', entityTag: `"${entityTag}-gzip"` }
    : { content, encoding: undefined, entityTag: `"${entityTag}"` };
}
