// Publishes the public keys of access tokens, for resource servers of the operator's own.
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JSONWebKeySet } from 'jose';
import { SigningKeyService } from './signing-key.service.js';

@Controller('.well-known')
export class KeySetController {
  constructor(private readonly signingKeys: SigningKeyService) {}

  /** Keys are published a day before they sign, so an hour in a cache does no harm. */
  @Get('jwks.json')
  keySet(@Res({ passthrough: true }) reply: FastifyReply): JSONWebKeySet {
    void reply.header('cache-control', 'public, max-age=3600').removeHeader('pragma');
    return this.signingKeys.publicKeys();
  }
}
