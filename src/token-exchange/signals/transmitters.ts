// The transmitters of security events: which of them sends a request, and the keys that they publish.
import { hash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { JwksService } from '../trust/jwks/jwks.service.js';
import type { JwksKeyProvider } from '../trust/jwks/jwks-key.provider.js';
import type { JwksEntry } from '../trust/trusted-key.js';

export type Transmitter = TokenExchangeOptions['signals']['transmitters'][number];

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

@Injectable()
export class Transmitters {
  /** The keys that they publish. None verifies an external token. */
  readonly keys: JwksKeyProvider;
  private readonly list: readonly Transmitter[];

  constructor(
    jwks: JwksService,
    @Inject(TOKEN_EXCHANGE_OPTIONS)
    { signals: { transmitters } }: Pick<TokenExchangeOptions, 'signals'>,
  ) {
    this.keys = jwks.provide(transmitters.map(transmitterEntry));
    this.list = transmitters;
  }

  /** @throws OAuthRefusal `transmitter_unknown` */
  authenticated(authorization = ''): Transmitter {
    const sent = hashOf(BEARER.exec(authorization)?.[1] ?? '');
    const [transmitter] = this.list.filter(({ secret }) => timingSafeEqual(hashOf(secret), sent));
    if (transmitter !== undefined) return transmitter;
    const refusal = new OAuthRefusal('transmitter_unknown');
    refusal.isOfStranger = true;
    throw refusal;
  }
}

/** The entry of its key set. It allows nothing. */
export function transmitterEntry({ issuer, jwksUri: url }: Transmitter): JwksEntry {
  return { type: 'jwks', label: `signals:${issuer}`, issuer, url, flows: new Set<never>() };
}

/** How a used id is stored: apart from the ids of other transmitters and of tokens (RFC 8417 §2.2). */
export function eventUseId(kind: 'event' | 'verification', issuer: string, id: string): string {
  return JSON.stringify([kind, issuer, id]);
}

/** Of equal length, whatever was sent. */
function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
