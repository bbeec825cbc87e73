// The page of a refused login: for people, and for the host page around the frame.
import { Inject, Injectable } from '@nestjs/common';
import { PublicFiles } from './public-files.js';
import type { WebOptions } from './public-files.js';
import { WEB_OPTIONS } from './public-files.js';

/** A login that was refused. */
export interface RefusedLogin {
  /** The stable word for programs. */
  readonly word: string;
  readonly requestId: string;
  /** The origin of the page that posted the login, if it named one. */
  readonly origin: string | undefined;
}

@Injectable()
export class LoginFailedPage {
  readonly contentType = 'text/html; charset=utf-8';

  constructor(
    private readonly files: PublicFiles,
    @Inject(WEB_OPTIONS) private readonly options: Pick<WebOptions, 'frameAncestors'>,
  ) {}

  /** A page that may not frame the instance gets no message: this half of D50; the other is embed-error.filter.ts. */
  render({ word, requestId, origin }: RefusedLogin): string {
    const host = origin !== undefined && this.mayFrame(origin) ? origin : '';
    const values = new Map(Object.entries({ word, request: requestId, host }));
    return this.files.loginFailed.replace(/{{(\w+)}}/g, (_, name: string) => escaped(values.get(name) ?? ''));
  }

  private mayFrame(origin: string): boolean {
    const frameAncestors = this.options.frameAncestors();
    return frameAncestors === undefined || frameAncestors.includes(origin);
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
}
