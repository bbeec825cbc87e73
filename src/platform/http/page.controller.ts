// Answers files of the instance, which @fastify/static reads: compressed, with what browsers need to keep them.
import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Get, NotFoundException, Param, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type {} from '@fastify/static';
import type { FastifyReply } from 'fastify';

/** To be asked for each time, and answered with 304 while nothing has changed. */
const REVALIDATED = 'no-cache';
/** For a year: the address changes with the content. */
const KEPT = 'public, max-age=31536000, immutable';
/** Ends of names that the build gives to compressed files. */
const COMPRESSED = ['.br', '.gz'];

/** Injection token of the folder of the compiled sources: those of a page lie in a folder `public` of its module. */
export const SOURCE_DIRECTORY = Symbol('SOURCE_DIRECTORY');

/** Gives answers their `sendFile`. */
export function prepareFiles(application: NestFastifyApplication, root: string): void {
  application.useStaticAssets({
    root,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    acceptRanges: false,
  });
}

/** The files of a folder that `pages/build.mjs` has filled. */
export class PublicFolder {
  private readonly names: ReadonlySet<string>;

  /** @throws Error where it is not there */
  constructor(private readonly folder: string) {
    this.names = new Set(readdirSync(folder).filter((name) => !COMPRESSED.includes(extname(name))));
  }

  /** @throws NotFoundException where there is no file of that name; a request's path never reaches the file system */
  answer(reply: FastifyReply, name: string, isKept = false): void {
    if (!this.names.has(name)) throw new NotFoundException();
    // Answers are not stored unless a route says otherwise; this one does.
    reply.removeHeader('pragma').header('cache-control', isKept ? KEPT : REVALIDATED);
    // Each header of a file is paid for by every visitor.
    reply.sendFile(name, this.folder, { lastModified: !isKept });
  }
}

/** A controller of a page and of the files that it is made of. */
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

  /** While instances are being upgraded a page may ask for files of another version: it gets these, for this once. */
  @Get('assets/:version/:name')
  asset(@Param('version') version: string, @Param('name') name: string, @Res() reply: FastifyReply): void {
    this.assets.answer(reply, name, version === this.version);
  }
}
