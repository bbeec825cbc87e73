// The files of our pages and the script for host pages, read once at start, with what a browser needs to keep them.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import type { WebOptions } from './web.options.js';
import { WEB_OPTIONS } from './web.options.js';

/** A file as it is answered. */
export interface PublicFile {
  readonly content: Buffer;
  readonly contentType: string;
  /** Strong: the same tag means the same bytes (RFC 9110 §8.8.3). */
  readonly entityTag: string;
}

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** Everything that is served; a request's path never reaches the file system. */
const ASSET_TYPES: Readonly<Record<string, string>> = {
  'theme.css': CSS,
  'page.css': CSS,
  'reference.css': CSS,
  'page.js': JAVASCRIPT,
  'view.js': JAVASCRIPT,
  'instance.js': JAVASCRIPT,
  'host-page.js': JAVASCRIPT,
  'session.js': JAVASCRIPT,
  'renewed.js': JAVASCRIPT,
  'wording.js': JAVASCRIPT,
  'icon.svg': 'image/svg+xml',
};

/** Where the pages say that its assets are. */
const UNVERSIONED = '/assets/current/';

@Injectable()
export class PublicFiles {
  readonly page: PublicFile;
  /** Where the login of a renewal leads to. */
  readonly renewed: PublicFile;
  /** The script for host pages, compiled from embed/. */
  readonly embedScript: PublicFile;
  /** Its types, for who writes the host page in TypeScript. */
  readonly embedTypes: PublicFile;
  /** Stands in the address of the assets and changes when one of them does. */
  readonly version: string;
  private readonly assets: ReadonlyMap<string, PublicFile>;

  /** @throws Error when a file is missing: the build has gone wrong, and the service must not start */
  constructor(@Inject(WEB_OPTIONS) { publicDirectory }: WebOptions) {
    const read = (name: string) => readFileSync(join(publicDirectory, name));
    this.assets = new Map(
      Object.entries(ASSET_TYPES).map(([name, contentType]) => [name, publicFile(read(name), contentType)]),
    );
    this.version = digest([...this.assets.values()].map(({ entityTag }) => entityTag).join());
    this.page = this.versioned(read('index.html'));
    this.renewed = this.versioned(read('renewed.html'));
    this.embedScript = publicFile(read('embedded-instance.js'), JAVASCRIPT);
    this.embedTypes = publicFile(read('embedded-instance.d.ts'), PLAIN_TEXT);
  }

  asset(name: string): PublicFile | undefined {
    return this.assets.get(name);
  }

  private versioned(html: Buffer): PublicFile {
    const text = html.toString().replaceAll(UNVERSIONED, `/assets/${this.version}/`);
    return publicFile(Buffer.from(text), HTML);
  }
}

function publicFile(content: Buffer, contentType: string): PublicFile {
  return { content, contentType, entityTag: `"${digest(content)}"` };
}

/** 96 bits: enough to tell versions of a file apart. */
function digest(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16);
}
