// The files of our pages and the script for host pages, read once at start, with what a browser needs to keep them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

const {
  css: CSS,
  html: HTML,
  icon: ICON,
  javascript: JAVASCRIPT,
  plainText: PLAIN_TEXT,
  svg: SVG,
} = MEDIA_TYPES;

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

/** What host pages know of the script for them, and its other parts. */
const EMBED_TYPES = ['options', 'embedded-instance', 'embedded-instance-element'];
const EMBED_PARTS = ['option-checks', 'attempt', 'frames', 'embedded-instance', 'embedded-instance-element'];

@Injectable()
export class PublicFiles {
  readonly page: PublicFile;
  /** Where the login of a renewal leads to, and of one that goes on to another page. */
  readonly renewed: PublicFile;
  /** Ends the session in an unseen frame. */
  readonly signOut: PublicFile;
  /** The page for unknown addresses. */
  readonly notFound: PublicFile;
  /** The template for refused logins: see login-failed.page.ts. */
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
    const files = Object.entries(ASSET_TYPES).map(([name, contentType]) => {
      return [name, new PublicFile(read(name), contentType)] as const;
    });
    this.assets = new VersionedAssets(new Map(files));
    const page = (name: string) => new PublicFile(Buffer.from(this.assets.versioned(read(name))), HTML);
    this.page = page('index.html');
    this.renewed = page('renewed.html');
    this.signOut = page('sign-out.html');
    this.notFound = page('not-found.html');
    this.loginFailed = this.assets.versioned(read('login-failed.html'));
    this.favicon = new PublicFile(read('favicon.ico'), ICON);
    const joined = (names: string[], extension: string) =>
      names.map((name) => read(`${name}.${extension}`).toString()).join('');
    // In a scope of its own: a host page sees what it defines on purpose. Indentation is a twentieth of its bytes.
    const script = `(() => {\n${joined(EMBED_PARTS, 'js').replace(/^ +/gm, '')}})();\n`;
    this.embedScript = new PublicFile(Buffer.from(script), JAVASCRIPT);
    this.embedTypes = new PublicFile(Buffer.from(joined(EMBED_TYPES, 'd.ts')), PLAIN_TEXT);
  }
}
