// The page of a pretend product for a login that was refused.
import type { LoginFailure, RenderedPage } from '@embedded-token-exchange/nestjs/advanced';
import { LoginFailurePage } from '@embedded-token-exchange/nestjs/advanced';

export class ProductLoginFailurePage extends LoginFailurePage {
  override render({ word }: LoginFailure): RenderedPage {
    return { contentType: 'text/html; charset=utf-8', body: `<!doctype html><title>${word}</title>` };
  }
}
