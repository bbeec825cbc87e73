// Publishes the public keys of access tokens, for resource servers of the operator's own.
import { Controller, Get, UseInterceptors } from '@nestjs/common';
import type { JSONWebKeySet } from 'jose';
import { SigningKeyService } from '../token-exchange/advanced.js';
import { PublishedInterceptor } from './published.interceptor.js';
import { KEY_SET, WELL_KNOWN } from './well-known.js';

@Controller(WELL_KNOWN)
@UseInterceptors(PublishedInterceptor)
export class KeySetController {
  constructor(private readonly signingKeys: SigningKeyService) {}

  @Get(KEY_SET)
  keySet(): JSONWebKeySet {
    return this.signingKeys.publicKeys();
  }
}
