// Publishes the public keys of access tokens, for other services that verify them.
import { Controller, Get, Options, Req, Res, VERSION_NEUTRAL } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { SigningKeyService } from '../tokens/signing-key.service.js';
import { KEY_SET, WELL_KNOWN } from './paths.js';

@Controller({ path: WELL_KNOWN, version: VERSION_NEUTRAL })
export class KeySetController {
  constructor(
    private readonly signingKeys: SigningKeyService,
    private readonly answers: HttpAnswers,
  ) {}

  @Get(KEY_SET)
  keySet(@Req() request: HttpRequest, @Res() response: object): void {
    this.answers.publish(request, response, this.signingKeys.publicKeys());
  }

  @Options(KEY_SET)
  permit(@Req() request: HttpRequest, @Res() response: object): void {
    this.answers.permit(request, response);
  }
}
