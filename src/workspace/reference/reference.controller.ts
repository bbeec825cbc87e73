// /api/v1/openapi.json and /api/v1/docs: the description of the API, for programs and for people.
import { join } from 'node:path';
import { Controller, Get, Header, Headers, Module, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { PublicFolder, SOURCE_DIRECTORY } from '../../platform/http/page.controller.js';
import { ApiDescription } from './api-description.js';

@Controller('api/v1')
export class ReferenceController {
  constructor(
    private readonly description: ApiDescription,
    private readonly files: PublicFolder,
  ) {}

  /** Revalidated on each request: it changes with each version of the service. */
  @Get('openapi.json')
  @Header('cache-control', 'no-cache')
  document(@Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): void {
    const { text, entityTag } = this.description.published();
    void reply.removeHeader('pragma').header('etag', entityTag).type('application/json; charset=utf-8');
    void (known === entityTag ? reply.status(304).send() : reply.send(text));
  }

  @Get('docs')
  page(@Res() reply: FastifyReply): void {
    this.files.answer(reply, 'reference.html');
  }

  @Get('docs/:name')
  file(@Param('name') name: string, @Res() reply: FastifyReply): void {
    this.files.answer(reply, name);
  }
}

@Module({
  controllers: [ReferenceController],
  providers: [
    ApiDescription,
    { provide: PublicFolder, inject: [SOURCE_DIRECTORY], useFactory: publicFolder },
  ],
})
export class ReferenceModule {}

function publicFolder(sourceDirectory: string): PublicFolder {
  return new PublicFolder(join(sourceDirectory, 'workspace', 'reference', 'public'));
}
