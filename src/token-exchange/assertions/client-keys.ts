// The published keys of clients. They are fetched, stored and followed like issuers' keys, but kept apart, so that none ever
// verifies an external token.
import { Inject, Injectable } from '@nestjs/common';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { Algorithm } from '../trust/algorithms.js';
import { JwksService } from '../trust/jwks/jwks.service.js';
import type { JwksCacheEntry } from '../trust/jwks/jwks-cache-entry.js';
import type { JwksKeyProvider } from '../trust/jwks/jwks-key.provider.js';
import type { JwksKey } from '../trust/jwks-content.js';
import type { JwksEntry, TrustPolicy } from '../trust/trusted-key.js';
import type { ClientCredential } from './client-reader.js';

@Injectable()
export class ClientKeyProvider {
  /** Its issuers are the addresses of the key sets. */
  private readonly keySets: JwksKeyProvider;

  constructor(
    jwks: JwksService,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { trustedKeys }: Pick<TokenExchangeOptions, 'trustedKeys'>,
  ) {
    this.keySets = jwks.provide(clientKeySets(trustedKeys));
  }

  /** @param entries entries of any type that may name clients. @returns the new addresses */
  replaceStored(entries: readonly TrustPolicy[]): readonly JwksCacheEntry[] {
    return this.keySets.replaceStored(clientKeySets(entries));
  }

  /** An unknown kid may cause one bounded fetch. Without a kid, all keys. */
  async keysAt(url: string, kid: unknown, algorithm: Algorithm): Promise<readonly JwksKey[]> {
    return typeof kid === 'string' ? this.keySets.find(url, kid, algorithm) : this.keySets.keysOf(url);
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
