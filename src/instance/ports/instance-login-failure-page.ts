// How this instance shows a refused login in a frame.
import { Injectable } from '@nestjs/common';
import type { LoginFailure, RenderedPage } from '../../token-exchange/instance.js';
import { LoginFailurePage } from '../../token-exchange/instance.js';
import { LoginFailedPage } from '../../web/login-failed.page.js';

@Injectable()
export class InstanceLoginFailurePage extends LoginFailurePage {
  constructor(private readonly page: LoginFailedPage) {
    super();
  }

  override render({ word, requestId, loginOrigin }: LoginFailure): RenderedPage {
    const { contentType } = this.page;
    return { contentType, body: this.page.render({ word, requestId, origin: loginOrigin }) };
  }
}
