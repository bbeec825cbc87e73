// The page of a refused login: for people, and for the host page around the frame.
import { Inject, Injectable } from '@nestjs/common';
import { MEDIA_TYPES } from '../../platform/http/public-file.js';
import type { LoginFailure, RenderedPage } from '../../token-exchange/instance.js';
import { LoginFailurePage } from '../../token-exchange/instance.js';
import type { WebOptions } from '../../web/public-files.js';
import { PublicFiles, WEB_OPTIONS } from '../../web/public-files.js';

@Injectable()
export class InstanceLoginFailurePage extends LoginFailurePage {
  constructor(
    private readonly files: PublicFiles,
    @Inject(WEB_OPTIONS) private readonly options: Pick<WebOptions, 'frameAncestors'>,
  ) {
    super();
  }

  /** A page that may not frame the instance gets no message: this half of D50; the other is embed-error.filter.ts. */
  override render({ word, requestId, retryAfterSeconds, loginOrigin }: LoginFailure): RenderedPage {
    const host = loginOrigin !== undefined && this.mayFrame(loginOrigin) ? loginOrigin : '';
    const values = new Map(
      Object.entries({ word, request: requestId, retry: retryAfterSeconds?.toString(), host }),
    );
    const valueOf = (name: string) => escaped(values.get(name) ?? '');
    const body = this.files.loginFailed.replace(/{{(\w+)}}/g, (_, name: string) => valueOf(name));
    return { contentType: MEDIA_TYPES.html, body };
  }

  private mayFrame(origin: string): boolean {
    const frameAncestors = this.options.frameAncestors();
    return frameAncestors === undefined || frameAncestors.includes(origin);
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
}
