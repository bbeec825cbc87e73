// The keys that clients of trusted key entries publish: fetched, stored and followed as those of issuers, and held apart from them, so
// that none of them ever verifies an external token.
import type { Provider } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { Leader } from '../../../platform/jobs/leader.js';
import { Notifications } from '../../../platform/jobs/notifications.js';
import type { Log } from '../../../platform/log/log.js';
import { LOGGER } from '../../../platform/log/log.js';
import { ExchangeTelemetry } from '../../host/telemetry.js';
import type { TokenExchangeOptions } from '../../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../../settings/token-exchange.options.js';
import { JwksKeyProvider } from '../jwks/jwks-key.provider.js';
import { JwksSnapshotRepository } from '../jwks/jwks-snapshot.repository.js';
import type { ClientCredential } from '../client-reader.js';
import type { JwksEntry, TrustPolicy } from '../trusted-key.js';

/** Injection token of a `JwksKeyProvider` whose issuers are the addresses of the clients' key sets. */
export const CLIENT_KEYS = Symbol('CLIENT_KEYS');

export const CLIENT_KEYS_PROVIDER: Provider = {
  provide: CLIENT_KEYS,
  inject: [
    TOKEN_EXCHANGE_OPTIONS,
    JwksSnapshotRepository,
    Notifications,
    Leader,
    Clock,
    LOGGER,
    ExchangeTelemetry,
  ],
  useFactory: (
    { jwks, trustedKeys }: TokenExchangeOptions,
    snapshots: JwksSnapshotRepository,
    notifications: Notifications,
    leader: Leader,
    clock: Clock,
    logger: Log,
    telemetry: ExchangeTelemetry,
  ) => {
    const options = { jwks, trustedKeys: clientKeySets(trustedKeys) };
    return new JwksKeyProvider(options, snapshots, notifications, leader, clock, logger, telemetry);
  },
};

/** An entry for each address of a client's key set. It allows nothing: such keys verify no external token. */
export function clientKeySets(policies: readonly TrustPolicy[]): readonly JwksEntry[] {
  const clients = policies.flatMap((policy) => [...(policy.clients?.values() ?? [])]);
  const sets = clients.flatMap((client) => {
    const url = keySetUrlOf(client);
    return url === undefined ? [] : [[url, client] as const];
  });
  return [...new Map(sets)].map(([url, client]) => {
    const isClientDocument = 'documentUrl' in client;
    return {
      type: 'jwks',
      label: `client:${client.id}`,
      issuer: url,
      url,
      isClientDocument,
      flows: new Set(),
    };
  });
}

/** Where a client's keys are fetched; undefined: they are not. */
export function keySetUrlOf(client: ClientCredential): string | undefined {
  if ('documentUrl' in client) return client.documentUrl;
  return 'jwksUrl' in client ? client.jwksUrl : undefined;
}
