// Finds the trusted key of a token, wherever it is kept.
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { KeysHeld } from '../../host/telemetry.js';
import { ExchangeTelemetry } from '../../host/telemetry.js';
import { JwksKeyProvider } from '../jwks/jwks-key.provider.js';
import { StaticKeyProvider } from './static-key.provider.js';
import type { TrustedClient } from '../trust-policy.js';
import type { TrustedKey } from '../trusted-key.js';

/** A client, with the issuer whose identity assertions it may send. */
export interface NamedClient {
  readonly issuer: string;
  readonly client: TrustedClient;
}

@Injectable()
export class TrustedKeyService implements OnApplicationBootstrap {
  constructor(
    private readonly staticKeys: StaticKeyProvider,
    private readonly jwksKeys: JwksKeyProvider,
    private readonly telemetry: ExchangeTelemetry,
  ) {}

  onApplicationBootstrap(): void {
    this.telemetry.watchKeys(() => this.keysHeld());
    this.telemetry.watchKeySets(() => this.jwksKeys.keySets());
  }

  /**
   * The key for an issuer and kid, if it is trusted.
   * @rule D37 Keys are looked up by the pair; of a static and a fetched key with the same pair the static one wins. Configured
   * entries go before stored ones (D70).
   * @rule 5.3.2 A key whose entry was deleted verifies nothing new. May cause one bounded fetch where the issuer's keys are
   * fetched and the kid is new (D34).
   */
  async find(issuer: string, kid: string): Promise<TrustedKey | undefined> {
    const key = this.staticKeys.find(issuer, kid);
    if (key === undefined) return this.jwksKeys.find(issuer, kid);
    const isStored = key.policy.entryIndex === undefined;
    return isStored ? (this.jwksKeys.findConfigured(issuer, kid) ?? key) : key;
  }

  /**
   * The key of an entry that lets another issuer send its logouts.
   * @rule P.logoutIssuer The provider's key is one of the entry's, and ends what tokens of the entry's issuer have opened.
   */
  async findByLogoutIssuer(logoutIssuer: string, kid: string): Promise<TrustedKey | undefined> {
    const entries = [...this.staticKeys.entries, ...this.jwksKeys.entries];
    const issuers = entries
      .filter((entry) => entry.logoutIssuer === logoutIssuer)
      .map(({ issuer }) => issuer);
    for (const issuer of new Set(issuers)) {
      const key = await this.find(issuer, kid);
      if (key?.policy.logoutIssuer === logoutIssuer) return key;
    }
    return undefined;
  }

  /** Every issuer that an entry names. For refusals: it takes a pass over all entries. */
  issuers(): ReadonlySet<string> {
    return new Set([...this.staticKeys.issuers, ...this.jwksKeys.issuers]);
  }

  /** The keys of an issuer that are in memory; nothing is fetched. */
  keysOf(issuer: string): readonly TrustedKey[] {
    return [...this.staticKeys.keysOf(issuer), ...this.jwksKeys.keysOf(issuer)];
  }

  /** How long an unknown kid of an issuer causes no fetch, in seconds; undefined where the next one may. */
  secondsToNextSearch(issuer: string): number | undefined {
    return this.jwksKeys.secondsToNextSearch(issuer);
  }

  /** What entries say of the clients with an id: several where more than one entry names it. */
  clientsNamed(id: string): readonly NamedClient[] {
    const entries = [...this.staticKeys.entries, ...this.jwksKeys.entries];
    return entries.flatMap(({ issuer, clients }) => {
      const client = clients?.get(id);
      return client === undefined ? [] : [{ issuer, client }];
    });
  }

  private keysHeld(): KeysHeld[] {
    const fetched = this.jwksKeys.status().map(({ label: entry, issuer, keys: count }) => {
      return { entry, issuer, count };
    });
    return [...this.staticKeys.held(), ...fetched];
  }
}
