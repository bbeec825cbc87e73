// Finds the trusted key of a token, wherever it is kept.
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { Flow } from '../../endpoint/flows.js';
import type { EntryEnd, KeysHeld } from '../../host/telemetry.js';
import { ExchangeTelemetry } from '../../host/telemetry.js';
import { JwksKeyProvider } from '../jwks/jwks-key.provider.js';
import type { KeySetState } from '../jwks/key-set-state.js';
import { StaticKeyProvider } from './static-key.provider.js';
import type { Algorithm } from '../algorithms.js';
import type { TrustedClient } from '../../assertions/client-reader.js';
import { namesDocuments } from '../../assertions/client-reader.js';
import type { TrustPolicy, TrustedKey, TrustedKeyEntry } from '../trusted-key.js';
import { flowsOf } from '../trusted-key.js';

/** A client, with the entry that names it. */
export interface NamedClient {
  readonly entry: TrustPolicy;
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
    this.telemetry.watchEnds(() => this.ends());
  }

  /**
   * The keys of an issuer and kid by which a signature of the algorithm is tried, in their order; none where none is trusted. Where none
   * serves the algorithm, those that there are. All have one policy.
   * @rule D37 Keys are looked up by the pair; of a static and a fetched key with the same pair the static one wins. Configured
   * entries go before stored ones (D70).
   * @rule 5.3.2 A key whose entry was deleted verifies nothing new. May cause one bounded fetch where the issuer's keys are
   * fetched and the kid is new (D34).
   */
  async find(issuer: string, kid: string, algorithm: Algorithm | undefined): Promise<readonly TrustedKey[]> {
    const key = this.staticKeys.find(issuer, kid);
    if (key === undefined) return this.jwksKeys.find(issuer, kid, algorithm);
    const isStored = key.policy.entryIndex === undefined;
    const configured = isStored ? this.jwksKeys.findConfigured(issuer, kid, algorithm) : [];
    return configured.length > 0 ? configured : [key];
  }

  /**
   * As `find`, for a logout token: of the entries of its issuer, and of those that let this issuer send their logouts. Configured ones
   * go first, so that no stored entry keeps a provider's logouts from them.
   * @rule P.logoutIssuer The provider's key is one of the entry's, and ends what tokens of the entry's issuer have opened.
   */
  async findForLogout(
    issuer: string,
    kid: string,
    algorithm: Algorithm | undefined,
  ): Promise<readonly TrustedKey[]> {
    const isOwn = (policy: TrustPolicy) => policy.issuer === issuer;
    const isSent = (policy: TrustPolicy) => policy.logoutIssuer === issuer;
    const isConfigured = ({ entryIndex }: TrustPolicy) => entryIndex !== undefined;
    for (const isMeant of [
      (policy: TrustPolicy) => isConfigured(policy) && isOwn(policy),
      (policy: TrustPolicy) => isConfigured(policy) && isSent(policy),
      isOwn,
      isSent,
    ]) {
      const issuers = this.entries.filter(isMeant).map((entry) => entry.issuer);
      for (const one of new Set(issuers)) {
        const keys = (await this.find(one, kid, algorithm)).filter(({ policy }) => isMeant(policy));
        if (keys.length > 0) return keys;
      }
    }
    return [];
  }

  /** Every issuer that an entry names. For refusals: it takes a pass over all entries. */
  issuers(): ReadonlySet<string> {
    return new Set(this.entries.map(({ issuer }) => issuer));
  }

  /** Whether an entry names the flow. It takes a pass over the entries. */
  serve(flow: Flow): boolean {
    return this.entries.some((entry) => flowsOf(entry).has(flow));
  }

  /** The keys of an issuer that are in memory; nothing is fetched. */
  keysOf(issuer: string): readonly TrustedKey[] {
    return [...this.staticKeys.keysOf(issuer), ...this.jwksKeys.keysOf(issuer)];
  }

  /** Of the first key set of an issuer that serves no key; undefined where each serves. */
  unservingKeySet(issuer: string): KeySetState | undefined {
    return this.jwksKeys.unservingKeySet(issuer);
  }

  /** How long an unknown kid of an issuer causes no fetch, in seconds; undefined where the next one may. */
  secondsToNextSearch(issuer: string): number | undefined {
    return this.jwksKeys.secondsToNextSearch(issuer);
  }

  /** What entries say of the clients with an id: several where more than one entry names it. */
  clientsNamed(id: string): readonly NamedClient[] {
    return this.entries.flatMap((entry) => {
      const client = entry.clients?.get(id);
      return client === undefined ? [] : [{ entry, client }];
    });
  }

  /** Whether any entry names a client by its metadata document. */
  get namesDocuments(): boolean {
    return namesDocuments(this.entries);
  }

  private get entries(): readonly TrustedKeyEntry[] {
    return [...this.staticKeys.entries, ...this.jwksKeys.entries];
  }

  private ends(): EntryEnd[] {
    return this.entries.flatMap(({ label: entry, issuer, notAfter }) =>
      notAfter === undefined ? [] : [{ entry, issuer, notAfter }],
    );
  }

  private keysHeld(): KeysHeld[] {
    const fetched = this.jwksKeys.status().map(({ label: entry, issuer, keys: count }) => {
      return { entry, issuer, count };
    });
    return [...this.staticKeys.held(), ...fetched];
  }
}
