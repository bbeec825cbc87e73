// The page of a pretend product for a login that was refused.
import type { LoginFailure, RenderedPage } from '@embedded-token-exchange/nestjs';
import { LoginFailurePage } from '@embedded-token-exchange/nestjs';

export class ProductLoginFailurePage extends LoginFailurePage {
  override render({ word }: LoginFailure): RenderedPage {
    return { contentType: 'text/html; charset=utf-8', body: `<!doctype html><title>${word}</title>` };
  }
}
