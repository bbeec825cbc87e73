// The published keys of clients. They are fetched, stored and followed like issuers' keys, but kept apart, so that none ever
// verifies an external token.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Leader } from '../../platform/jobs/leader.js';
import { Notifications } from '../../platform/jobs/notifications.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { JwksKeyProvider } from '../trust/jwks/jwks-key.provider.js';
import { JwksSnapshotRepository } from '../trust/jwks/jwks-snapshot.repository.js';
import type { ClientCredential } from './client-reader.js';
import type { JwksEntry, TrustPolicy } from '../trust/trusted-key.js';

/** A key provider whose issuers are the addresses of clients' key sets. */
@Injectable()
export class ClientKeyProvider extends JwksKeyProvider {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) { jwks, trustedKeys }: Pick<TokenExchangeOptions, 'jwks' | 'trustedKeys'>,
    snapshots: JwksSnapshotRepository,
    notifications: Notifications,
    leader: Leader,
    clock: Clock,
    @Inject(LOGGER) logger: Log,
    telemetry: ExchangeTelemetry,
  ) {
    const options = { jwks, trustedKeys: clientKeySets(trustedKeys) };
    super(options, snapshots, notifications, leader, clock, logger, telemetry);
  }

  /** @param entries entries of any type that may name clients */
  override replaceStored(entries: readonly TrustPolicy[]): Promise<void> {
    return super.replaceStored(clientKeySets(entries));
  }
}

/** An entry for each address of a client's key set. It allows nothing, because such keys verify no external token. */
function clientKeySets(policies: readonly TrustPolicy[]): readonly JwksEntry[] {
  const clients = policies.flatMap((policy) => [...(policy.clients?.values() ?? [])]);
  const sets = clients.flatMap((client) => {
    const url = keySetUrlOf(client);
    if (url === undefined) return [];
    const isClientDocument = 'documentUrl' in client;
    const label = `client:${client.id}`;
    return { type: 'jwks' as const, label, issuer: url, url, isClientDocument, flows: new Set<never>() };
  });
  return [...new Map(sets.map((entry) => [entry.url, entry])).values()];
}

/** The address of a client's keys; undefined if they are not fetched. */
export function keySetUrlOf(client: ClientCredential): string | undefined {
  if ('documentUrl' in client) return client.documentUrl;
  return 'jwksUrl' in client ? client.jwksUrl : undefined;
}
