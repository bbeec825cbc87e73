// The templates of the pages that answer for other routes, and where the files of ours are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';

export interface WebOptions {
  /** Folder that holds the pages and the files they are made of, as the build has put them together. */
  readonly publicDirectory: string;
  /** The origins that may frame the instance now; empty: none may; undefined: a reverse proxy says so. */
  readonly frameAncestors: () => readonly string[] | undefined;
}

/** Injection token of the options. */
export const WEB_OPTIONS = Symbol('WEB_OPTIONS');

export const HTML = 'text/html; charset=utf-8';

@Injectable()
export class PageTemplates {
  /** The page for unknown addresses. */
  readonly notFound: string;
  /** For refused logins: see instance-login-failure-page.ts. */
  readonly loginFailed: string;

  constructor(@Inject(WEB_OPTIONS) { publicDirectory }: WebOptions) {
    const read = (name: string) => readFileSync(join(publicDirectory, name), 'utf8');
    this.notFound = read('not-found.html');
    this.loginFailed = read('login-failed.html');
  }
}
