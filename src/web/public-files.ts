// The files of our pages and the script for host pages, read once at start, with what a browser needs to keep them.
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join, parse } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { MEDIA_TYPES, PublicFile, VersionedAssets } from '../platform/http/public-file.js';

export interface WebOptions {
  /** Folder that holds the page and the files it is made of. */
  readonly publicDirectory: string;
  /** The origins that may frame the instance now; empty: none may; undefined: a reverse proxy says so. */
  readonly frameAncestors: () => readonly string[] | undefined;
}

/** Injection token of the options. */
export const WEB_OPTIONS = Symbol('WEB_OPTIONS');

const { css, html, icon, javascript, plainText, svg } = MEDIA_TYPES;

/** The files that pages are made of, by the ends of their names; a request's path never reaches the file system. */
const ASSET_TYPES: Readonly<Record<string, string>> = { '.css': css, '.js': javascript, '.svg': svg };

/** What host pages know of the script for them, and its other parts. */
const EMBED_TYPES = ['options', 'embedded-instance', 'embedded-instance-element'];
const EMBED_PARTS = [
  'option-checks',
  'texts',
  'frames',
  'addresses',
  'frame-height',
  'card',
  'attempt',
  'embedded-instance',
  'embedded-instance-element',
];

@Injectable()
export class PublicFiles {
  readonly page: PublicFile;
  /** Where the login of a renewal leads to, and of one that goes on to another page. */
  readonly renewed: PublicFile;
  /** Ends the session in an unseen frame. */
  readonly signOut: PublicFile;
  /** The page for unknown addresses. */
  readonly notFound: PublicFile;
  /** The template for refused logins: see instance-login-failure-page.ts. */
  readonly loginFailed: string;
  /** For answers that name no icon, such as JSON. */
  readonly favicon: PublicFile;
  /** The script for host pages, compiled from embed/. */
  readonly embedScript: PublicFile;
  /** Its types, for who writes the host page in TypeScript. */
  readonly embedTypes: PublicFile;
  readonly assets: VersionedAssets;

  /** @throws Error when the build left a file out: the service must not start */
  constructor(@Inject(WEB_OPTIONS) { publicDirectory }: WebOptions) {
    const read = (name: string) => readFileSync(join(publicDirectory, name));
    // In the same order on every instance: the version follows from it.
    const names = readdirSync(publicDirectory).sort();
    const files = new Map<string, PublicFile>();
    for (const name of names) {
      const contentType = ASSET_TYPES[extname(name)];
      // What is compiled from embed/ has its types beside it.
      const isEmbed = names.includes(`${parse(name).name}.d.ts`);
      if (contentType === undefined || isEmbed) continue;
      files.set(name, new PublicFile(Buffer.from(withoutComments(read(name).toString())), contentType));
    }
    this.assets = new VersionedAssets(files);
    const page = (name: string) => new PublicFile(Buffer.from(this.assets.versioned(read(name))), html);
    this.page = page('index.html');
    this.renewed = page('renewed.html');
    this.signOut = page('sign-out.html');
    this.notFound = page('not-found.html');
    this.loginFailed = this.assets.versioned(read('login-failed.html'));
    this.favicon = new PublicFile(read('favicon.ico'), icon);
    const joined = (names: string[], extension: string) =>
      names.map((name) => withoutModules(read(`${name}.${extension}`).toString())).join('');
    // In a scope of its own: a host page sees what it defines on purpose. Indentation is a twentieth of its bytes.
    const script = `(() => {\n${joined(EMBED_PARTS, 'js').replace(/^ +/gm, '')}Object.assign(globalThis, { EmbeddedInstance });\n})();\n`;
    this.embedScript = new PublicFile(Buffer.from(script), javascript);
    this.embedTypes = new PublicFile(Buffer.from(joined(EMBED_TYPES, 'd.ts')), plainText);
  }
}

/** Comments that have lines of their own are a quarter of what a page would cost its visitor. */
function withoutComments(text: string): string {
  return text.replace(/^ *\/\*(?:(?!\*\/)[^])*\*\/\n/gm, '').replace(/^ *\/\/.*\n/gm, '');
}

/** What a file of embed/ says once it is joined to those that it imports. */
function withoutModules(text: string): string {
  return text
    .replace(/^import [^;]*;\n/gm, '')
    .replace(/^declare global \{\n([^]*?)\n\}/gm, '$1')
    .replace(/^export (\{\};\n)?/gm, '');
}
