// Serves the instance's files through @fastify/static: compressed, and with cache headers.
import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import type {} from '@fastify/static';
import { Get, NotFoundException, Param, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';

/** Browsers ask each time, and get 304 while nothing has changed. */
const REVALIDATED = 'no-cache';
/** For a year: the URL changes with the content. */
const KEPT = 'public, max-age=31536000, immutable';
/** Extensions of the compressed files that the build adds. */
const COMPRESSED = ['.br', '.gz'];

/**
 * Injection token of the folder of the compiled sources. A page's files are in the folder `public` of its
 * module.
 */
export const SOURCE_DIRECTORY = Symbol('SOURCE_DIRECTORY');

/** Adds `sendFile` to responses. */
export function prepareFiles(application: NestFastifyApplication, root: string): void {
  application.useStaticAssets({
    root,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    acceptRanges: false,
  });
}

/** A folder with files that `pages/build.mjs` has created. */
export class PublicFolder {
  private readonly names: ReadonlySet<string>;

  /** @throws Error if the folder does not exist */
  constructor(private readonly folder: string) {
    this.names = new Set(readdirSync(folder).filter((name) => !COMPRESSED.includes(extname(name))));
  }

  /** @throws NotFoundException if no file has that name; a request's path never reaches the file system */
  answer(reply: FastifyReply, name: string, isKept = false): void {
    if (!this.names.has(name)) throw new NotFoundException();
    // Responses are not cached unless a route says otherwise, as this one does.
    reply.removeHeader('pragma').header('cache-control', isKept ? KEPT : REVALIDATED);
    // Every visitor pays for each header of a file.
    reply.sendFile(name, this.folder, { lastModified: !isKept });
  }
}

/** A controller of a page and its assets. */
export abstract class PageController {
  protected readonly pages: PublicFolder;
  private readonly assets: PublicFolder;
  private readonly version: string;

  protected constructor(folder: string) {
    this.pages = new PublicFolder(folder);
    [this.version = ''] = readdirSync(join(folder, 'assets'));
    this.assets = new PublicFolder(join(folder, 'assets', this.version));
  }

  /** The page is the same for all users; it asks the API who is signed in. */
  @Get()
  page(@Res() reply: FastifyReply): void {
    this.pages.answer(reply, 'index.html');
  }

  /** During an upgrade a page may request assets of another version: it gets these, uncached. */
  @Get('assets/:version/:name')
  asset(@Param('version') version: string, @Param('name') name: string, @Res() reply: FastifyReply): void {
    this.assets.answer(reply, name, version === this.version);
  }
}
