// The files of the page that shows the API's description: its own, and those of Swagger UI. They are read when first asked for.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { MEDIA_TYPES, PublicFile } from '../../platform/http/public-file.js';

export interface ReferenceOptions {
  /** Folder that holds the page and the files of our own that it is made of. */
  readonly publicDirectory: string;
}

/** Injection token of the options. */
export const REFERENCE_OPTIONS = Symbol('REFERENCE_OPTIONS');

export const REFERENCE_PAGE = 'reference.html';
const { css, html, javascript } = MEDIA_TYPES;

/** Everything that is served; a request's path never reaches the file system. */
const OWN_TYPES: Readonly<Record<string, string>> = {
  [REFERENCE_PAGE]: html,
  'reference.css': css,
  'reference.js': javascript,
};
const LIBRARY_TYPES: Readonly<Record<string, string>> = {
  'swagger-ui.css': css,
  'swagger-ui-bundle.js': javascript,
};

@Injectable()
export class ReferenceFiles {
  private readonly files = new Map<string, Promise<PublicFile>>();

  constructor(@Inject(REFERENCE_OPTIONS) private readonly options: ReferenceOptions) {}

  /** Undefined for a name that no file of the page has. */
  async find(name: string): Promise<PublicFile | undefined> {
    const known = this.files.get(name);
    if (known !== undefined) return known;
    const file = this.read(name);
    if (file === undefined) return undefined;
    this.files.set(name, file);
    // Who asks next tries again.
    file.catch(() => this.files.delete(name));
    return file;
  }

  private read(name: string): Promise<PublicFile> | undefined {
    const [own, library] = [OWN_TYPES, LIBRARY_TYPES].map((types) =>
      Object.hasOwn(types, name) ? types[name] : undefined,
    );
    if (own !== undefined) return readPublic(join(this.options.publicDirectory, name), own);
    return library === undefined ? undefined : readOfLibrary(name, library);
  }
}

async function readOfLibrary(name: string, contentType: string): Promise<PublicFile> {
  const { default: absolutePath } = await import('swagger-ui-dist/absolute-path.js');
  return readPublic(join(absolutePath(), name), contentType);
}

async function readPublic(path: string, contentType: string): Promise<PublicFile> {
  return new PublicFile(await readFile(path), contentType);
}
