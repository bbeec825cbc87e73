// The page of a refused login: for people, and for the host page around the frame.
import { Injectable } from '@nestjs/common';
import type { LoginFailure, RenderedPage } from '../token-exchange/instance.js';
import { LoginFailurePage } from '../token-exchange/instance.js';
import { HTML, PageTemplates } from '../web/page-templates.js';
import { FrameAncestors } from './frame-ancestors.js';

@Injectable()
export class InstanceLoginFailurePage extends LoginFailurePage {
  constructor(
    private readonly templates: PageTemplates,
    private readonly ancestors: FrameAncestors,
  ) {
    super();
  }

  /** A page that may not frame the instance gets no message: this half of D50; the other is flow-error.filter.ts. */
  override render({ word, requestId, retryAfterSeconds, loginOrigin }: LoginFailure): RenderedPage {
    const host = loginOrigin !== undefined && this.mayFrame(loginOrigin) ? loginOrigin : '';
    const values = new Map(
      Object.entries({ word, request: requestId, retry: retryAfterSeconds?.toString(), host }),
    );
    const valueOf = (name: string) => escaped(values.get(name) ?? '');
    const body = this.templates.loginFailed.replace(/{{(\w+)}}/g, (_, name: string) => valueOf(name));
    return { contentType: HTML, body };
  }

  private mayFrame(origin: string): boolean {
    const { current } = this.ancestors;
    return current === undefined || current.includes(origin);
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
}
