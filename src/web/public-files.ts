// The files of our pages and the script for host pages, read once at start, with what a browser needs to keep them.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import type { WebOptions } from './web.options.js';
import { WEB_OPTIONS } from './web.options.js';

/** The bytes of a file as they are answered to a client. */
export interface Representation {
  readonly content: Buffer;
  /** Strong: the same tag means the same bytes (RFC 9110 §8.8.3). */
  readonly entityTag: string;
  /** The content coding; undefined: none. */
  readonly encoding: Coding | undefined;
}

type Coding = keyof typeof CODINGS;

/** The content codings by which files are compressed (RFC 9110 §8.4.1, RFC 7932), the best one first. */
const CODINGS = {
  br: (content: Buffer) => brotliCompressSync(content),
  gzip: (content: Buffer) => gzipSync(content, { level: constants.Z_BEST_COMPRESSION }),
} as const;

/** A file, compressed for those who take it. */
export class PublicFile {
  private readonly plain: Representation;
  private readonly compressed = new Map<Coding, Representation>();

  constructor(
    content: Buffer,
    readonly contentType: string,
  ) {
    this.plain = representation(content, undefined);
  }

  get entityTag(): string {
    return this.plain.entityTag;
  }

  /** @param acceptEncoding the request's header (RFC 9110 §12.5.3) */
  representationFor(acceptEncoding = ''): Representation {
    const taken = codingsIn(acceptEncoding);
    const coding = (Object.keys(CODINGS) as Coding[]).find((name) => taken.has(name));
    return coding === undefined ? this.plain : this.compressedBy(coding);
  }

  /** Once for each file, when somebody asks for it first. */
  private compressedBy(coding: Coding): Representation {
    const known = this.compressed.get(coding);
    if (known !== undefined) return known;
    const made = representation(CODINGS[coding](this.plain.content), coding);
    this.compressed.set(coding, made);
    return made;
  }
}

/** Those that a client takes; which it likes better is not looked at. */
function codingsIn(acceptEncoding: string): Set<string> {
  const offers = acceptEncoding
    .toLowerCase()
    .split(',')
    .map((offer) => offer.split(';').map((part) => part.trim()));
  return new Set(offers.filter(([, weight = '']) => !/^q=0(\.0*)?$/.test(weight)).map(([name = '']) => name));
}

function representation(content: Buffer, encoding: Coding | undefined): Representation {
  return { content, entityTag: `"${digest(content)}"`, encoding };
}

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const SVG = 'image/svg+xml';
const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** Everything that is served; a request's path never reaches the file system. */
const ASSET_TYPES: Readonly<Record<string, string>> = {
  'theme.css': CSS,
  'page.css': CSS,
  'page.js': JAVASCRIPT,
  'appearance.js': JAVASCRIPT,
  'detail-view.js': JAVASCRIPT,
  'host-page.js': JAVASCRIPT,
  'instance.js': JAVASCRIPT,
  'list-view.js': JAVASCRIPT,
  'login-failed.js': JAVASCRIPT,
  'not-found.js': JAVASCRIPT,
  'renewed.js': JAVASCRIPT,
  'session.js': JAVASCRIPT,
  'session-watch.js': JAVASCRIPT,
  'sign-out.js': JAVASCRIPT,
  'view.js': JAVASCRIPT,
  'wording.js': JAVASCRIPT,
  'words.js': JAVASCRIPT,
  'workflow-list.js': JAVASCRIPT,
  'icon.svg': SVG,
};

/** Where the pages say that its assets are. */
const UNVERSIONED = '/assets/current/';

@Injectable()
export class PublicFiles {
  readonly page: PublicFile;
  /** Where the login of a renewal leads to, and of one that goes on to another page. */
  readonly renewed: PublicFile;
  /** Ends the session in an unseen frame. */
  readonly signOut: PublicFile;
  /** What people see at an address where nothing is. */
  readonly notFound: PublicFile;
  /** What is shown of a refused login, with places to fill in: see login-failed.page.ts. */
  readonly loginFailed: string;
  /** For answers that name no icon of their own: JSON, and whatever a visitor looks at. */
  readonly favicon: PublicFile;
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
      Object.entries(ASSET_TYPES).map(([name, contentType]) => [
        name,
        new PublicFile(read(name), contentType),
      ]),
    );
    this.version = digest([...this.assets.values()].map(({ entityTag }) => entityTag).join());
    const page = (name: string) => new PublicFile(Buffer.from(this.versioned(read(name))), HTML);
    this.page = page('index.html');
    this.renewed = page('renewed.html');
    this.signOut = page('sign-out.html');
    this.notFound = page('not-found.html');
    this.loginFailed = this.versioned(read('login-failed.html'));
    this.favicon = new PublicFile(read('favicon.ico'), 'image/x-icon');
    this.embedScript = new PublicFile(read('embedded-instance.js'), JAVASCRIPT);
    this.embedTypes = new PublicFile(read('embedded-instance.d.ts'), PLAIN_TEXT);
  }

  asset(name: string): PublicFile | undefined {
    return this.assets.get(name);
  }

  private versioned(html: Buffer): string {
    return html.toString().replaceAll(UNVERSIONED, `/assets/${this.version}/`);
  }
}

/** 96 bits: enough to tell versions of a file apart. */
function digest(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16);
}
