// The transmitters of security events: which of them sends a request, and the keys that they publish.
import { hash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Leader } from '../../platform/jobs/leader.js';
import { Notifications } from '../../platform/jobs/notifications.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { JwksKeyProvider } from '../trust/jwks/jwks-key.provider.js';
import { JwksSnapshotRepository } from '../trust/jwks/jwks-snapshot.repository.js';
import type { JwksEntry } from '../trust/trusted-key.js';

export type Transmitter = TokenExchangeOptions['signals']['transmitters'][number];

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

/** Their keys are fetched, stored and followed as those of issuers, and held apart from them: none verifies an external token. */
@Injectable()
export class Transmitters extends JwksKeyProvider {
  private readonly list: readonly Transmitter[];

  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS)
    { jwks, signals: { transmitters } }: Pick<TokenExchangeOptions, 'jwks' | 'signals'>,
    snapshots: JwksSnapshotRepository,
    notifications: Notifications,
    leader: Leader,
    clock: Clock,
    @Inject(LOGGER) logger: Log,
    telemetry: ExchangeTelemetry,
  ) {
    const trustedKeys = transmitters.map(entryOf);
    super({ jwks, trustedKeys }, snapshots, notifications, leader, clock, logger, telemetry);
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

  issuers(): ReadonlySet<string> {
    return new Set(this.list.map(({ issuer }) => issuer));
  }
}

/** It allows nothing. */
function entryOf({ issuer, jwksUri: url }: Transmitter): JwksEntry {
  return { type: 'jwks', label: `signals:${issuer}`, issuer, url, flows: new Set<never>() };
}

/** Of equal length, whatever was sent. */
function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
