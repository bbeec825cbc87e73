// The files of the page that shows the API's description: its own, and those of Swagger UI. They are read when first asked for.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import absolutePath from 'swagger-ui-dist/absolute-path.js';
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
const FILES: ReadonlyMap<string, { readonly contentType: string; readonly isOfLibrary?: true }> = new Map([
  [REFERENCE_PAGE, { contentType: html }],
  ['reference.css', { contentType: css }],
  ['reference.js', { contentType: javascript }],
  ['swagger-ui.css', { contentType: css, isOfLibrary: true }],
  ['swagger-ui-bundle.js', { contentType: javascript, isOfLibrary: true }],
]);

@Injectable()
export class ReferenceFiles {
  private readonly files = new Map<string, Promise<PublicFile>>();

  constructor(@Inject(REFERENCE_OPTIONS) private readonly options: ReferenceOptions) {}

  /** Undefined for a name that no file of the page has. */
  async find(name: string): Promise<PublicFile | undefined> {
    const file = FILES.get(name);
    if (file === undefined) return undefined;
    const known = this.files.get(name);
    if (known !== undefined) return known;
    const { contentType, isOfLibrary } = file;
    const directory = isOfLibrary ? absolutePath() : this.options.publicDirectory;
    const read = readPublic(join(directory, name), contentType);
    this.files.set(name, read);
    // Who asks next tries again.
    read.catch(() => this.files.delete(name));
    return read;
  }
}

async function readPublic(path: string, contentType: string): Promise<PublicFile> {
  return new PublicFile(await readFile(path), contentType);
}
