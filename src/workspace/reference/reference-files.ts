// The files of the page that shows the API's description: ours, and those of Swagger UI. They are read when first asked for.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import type { ReferenceOptions } from './reference.options.js';
import { REFERENCE_OPTIONS } from './reference.options.js';

/** A file as it is answered. */
export interface ReferenceFile {
  readonly content: Buffer;
  readonly gzipped: Buffer;
  readonly contentType: string;
  /** Of the content; with another ending for the other form (RFC 9110 §8.8.3). */
  readonly entityTag: string;
}

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
export const REFERENCE_PAGE = 'reference.html';

/** Everything that is served; a request's path never reaches the file system. */
const OWN_TYPES: Readonly<Record<string, string>> = {
  [REFERENCE_PAGE]: 'text/html; charset=utf-8',
  'reference.css': CSS,
  'reference.js': JAVASCRIPT,
};
const LIBRARY_TYPES: Readonly<Record<string, string>> = {
  'swagger-ui.css': CSS,
  'swagger-ui-bundle.js': JAVASCRIPT,
};

const compress = promisify(gzip);

@Injectable()
export class ReferenceFiles {
  private readonly files = new Map<string, Promise<ReferenceFile>>();

  constructor(@Inject(REFERENCE_OPTIONS) private readonly options: ReferenceOptions) {}

  /** Undefined for a name that no file of the page has. */
  async find(name: string): Promise<ReferenceFile | undefined> {
    const known = this.files.get(name);
    if (known !== undefined) return known;
    const file = this.read(name);
    if (file === undefined) return undefined;
    this.files.set(name, file);
    // Who asks next tries again.
    file.catch(() => this.files.delete(name));
    return file;
  }

  private read(name: string): Promise<ReferenceFile> | undefined {
    const [own, library] = [OWN_TYPES, LIBRARY_TYPES].map((types) =>
      Object.hasOwn(types, name) ? types[name] : undefined,
    );
    if (own !== undefined) return readCompressed(join(this.options.publicDirectory, name), own);
    return library === undefined ? undefined : readOfLibrary(name, library);
  }
}

async function readOfLibrary(name: string, contentType: string): Promise<ReferenceFile> {
  const { default: absolutePath } = await import('swagger-ui-dist/absolute-path.js');
  return readCompressed(join(absolutePath(), name), contentType);
}

/** Compressed once, outside the main thread: the library has one and a half megabytes. */
async function readCompressed(path: string, contentType: string): Promise<ReferenceFile> {
  const content = await readFile(path);
  const entityTag = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  return { content, gzipped: await compress(content), contentType, entityTag };
}
