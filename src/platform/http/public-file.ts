// A public file: its bytes, compressed for browsers that accept it, and its `ETag`.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** The bytes of a file as they are answered to a client. */
interface Representation {
  readonly content: Buffer;
  /** Strong: the same tag means the same bytes (RFC 9110 §8.8.3). */
  readonly entityTag: string;
  /** The content coding; undefined: none. */
  readonly encoding: Coding | undefined;
}

type Coding = keyof typeof CODINGS;

/** Above this size a thirtieth of the time counts more than an eighth of the bytes: a library of 1.5 MB takes seconds at the best quality. */
const BEST_UP_TO_BYTES = 256 * 1024;

/** The content codings by which files are compressed (RFC 9110 §8.4.1, RFC 7932), the best one first. */
const CODINGS = {
  br: (content: Buffer): Promise<Buffer> => {
    const quality = content.length > BEST_UP_TO_BYTES ? 5 : constants.BROTLI_MAX_QUALITY;
    return promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
  },
  gzip: (content: Buffer): Promise<Buffer> =>
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
} as const;

/** A file, compressed for those who take it. */
export class PublicFile {
  private readonly plain: Representation;
  private readonly compressed = new Map<Coding, Promise<Representation>>();

  constructor(
    content: Buffer,
    readonly contentType: string,
  ) {
    this.plain = representation(content, undefined);
  }

  get entityTag(): string {
    return this.plain.entityTag;
  }

  get text(): string {
    return this.plain.content.toString();
  }

  /** @param acceptEncoding the request's header (RFC 9110 §12.5.3) */
  async representationFor(acceptEncoding = ''): Promise<Representation> {
    const taken = codingsIn(acceptEncoding);
    const coding = (Object.keys(CODINGS) as Coding[]).find((name) => taken.has(name));
    return coding === undefined ? this.plain : this.compressedBy(coding);
  }

  /** Once for each file, at the first request. */
  private compressedBy(coding: Coding): Promise<Representation> {
    const known = this.compressed.get(coding);
    if (known !== undefined) return known;
    const made = CODINGS[coding](this.plain.content).then((content) => representation(content, coding));
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

/** Media types of files, with the encoding of their text (RFC 9110 §8.3). */
export const MEDIA_TYPES = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  icon: 'image/x-icon',
  javascript: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  plainText: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

function representation(content: Buffer, encoding: Coding | undefined): Representation {
  return { content, entityTag: `"${digest(content)}"`, encoding };
}

/** How a page names its files, and how a script names another. */
const NAMED_FILE = /(?:\/assets\/current|'\.)\/([\w-]+\.\w+)/g;
/** Where pages say that their assets are. */
const UNVERSIONED = '/assets/current/';

/** The files that a page is made of. Their version stands in their addresses, and changes when one of them does. */
export class VersionedAssets {
  readonly version: string;

  /** @throws Error where a script names another that is not there */
  constructor(private readonly files: ReadonlyMap<string, PublicFile>) {
    for (const { text } of files.values()) this.refuseMissing(text);
    this.version = digest([...files.values()].map(({ entityTag }) => entityTag).join());
  }

  find(name: string): PublicFile | undefined {
    return this.files.get(name);
  }

  /** A page with the addresses of this version. @throws Error where it names a file that is not there */
  versioned(html: Buffer): string {
    this.refuseMissing(html.toString());
    return html.toString().replaceAll(UNVERSIONED, `/assets/${this.version}/`);
  }

  private refuseMissing(text: string): void {
    for (const [, name = ''] of text.matchAll(NAMED_FILE))
      if (!this.files.has(name)) throw new Error(`the pages lack ${name}`);
  }
}

/** 96 bits: enough to distinguish versions of a file. */
function digest(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16);
}
