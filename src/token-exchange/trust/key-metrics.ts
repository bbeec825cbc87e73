// The keys of entries and of transmitters of security events, as metrics show them.
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { Transmitters } from '../signals/transmitters.js';
import { JwksKeyProvider } from './jwks/jwks-key.provider.js';
import { StaticKeyProvider } from './lookup/trusted-key.service.js';

@Injectable()
export class KeyMetrics implements OnApplicationBootstrap {
  constructor(
    private readonly staticKeys: StaticKeyProvider,
    private readonly jwksKeys: JwksKeyProvider,
    private readonly transmitters: Transmitters,
    private readonly telemetry: ExchangeTelemetry,
  ) {}

  onApplicationBootstrap(): void {
    const { staticKeys, jwksKeys, transmitters } = this;
    const keySets = [jwksKeys, transmitters.keys];
    const fetched = () =>
      keySets
        .flatMap((provider) => provider.status())
        .map(({ label: entry, issuer, keys: count }) => ({ entry, issuer, count }));
    this.telemetry.watchKeys(() => [...staticKeys.held(), ...fetched()]);
    this.telemetry.watchKeySets(() => keySets.flatMap((provider) => provider.keySets()));
    this.telemetry.watchEnds(() =>
      [...staticKeys.entries, ...jwksKeys.entries].flatMap(({ label: entry, issuer, notAfter }) =>
        notAfter === undefined ? [] : [{ entry, issuer, notAfter }],
      ),
    );
  }
}
