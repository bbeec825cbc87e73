// Finds the trusted key of a token: among those in configured and stored entries of type `static`, and in key sets.
import { Inject, Injectable } from '@nestjs/common';
import { domainOfAddress } from '../../../platform/text/email-address.js';
import type { TrustedClient } from '../../assertions/client-reader.js';
import { namesDocuments } from '../../assertions/client-reader.js';
import type { Flow } from '../../endpoint/flows.js';
import type { KeysHeld } from '../../host/telemetry.js';
import type { TokenExchangeOptions } from '../../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../../settings/token-exchange.options.js';
import type { Algorithm } from '../algorithms.js';
import type { KeySetState } from '../jwks/jwks-cache-entry.js';
import { JwksKeyProvider } from '../jwks/jwks-key.provider.js';
import type { StaticKeyEntry, TrustedKey, TrustedKeyEntry, TrustPolicy } from '../trusted-key.js';
import { domainsOf, flowsOf, maxUsersOf } from '../trusted-key.js';

/** Static keys by issuer and kid. Those of the configuration never change while the process runs. */
@Injectable()
export class StaticKeyProvider {
  private readonly configured: readonly StaticKeyEntry[];
  private keysByIssuer: KeysByIssuer;
  private stored: readonly StaticKeyEntry[] = [];

  constructor(@Inject(TOKEN_EXCHANGE_OPTIONS) { trustedKeys }: Pick<TokenExchangeOptions, 'trustedKeys'>) {
    this.configured = trustedKeys.filter((entry) => entry.type === 'static');
    this.keysByIssuer = keysByIssuer(this.configured);
  }

  find(issuer: string, kid: string): TrustedKey | undefined {
    return this.keysByIssuer.get(issuer)?.get(kid);
  }

  /** Replaces all stored entries at once. No two entries share issuer and kid. */
  replaceStored(entries: readonly StaticKeyEntry[]): void {
    this.stored = entries;
    this.keysByIssuer = keysByIssuer([...this.configured, ...entries]);
  }

  /** All entries, including suspended ones. */
  get entries(): readonly StaticKeyEntry[] {
    return [...this.configured, ...this.stored];
  }

  /** All keys of an issuer. */
  keysOf(issuer: string): readonly TrustedKey[] {
    return [...(this.keysByIssuer.get(issuer)?.values() ?? [])];
  }

  /** One key for each static entry that is not suspended. */
  held(): KeysHeld[] {
    return this.entries.map(({ label, issuer, suspended }) => {
      return { entry: label, issuer, count: suspended === true ? 0 : 1 };
    });
  }
}

type KeysByIssuer = ReadonlyMap<string, ReadonlyMap<string, TrustedKey>>;

/** Nested maps instead of a joined key, so that no separator makes two pairs equal (D37). */
function keysByIssuer(entries: readonly StaticKeyEntry[]): KeysByIssuer {
  const byIssuer = new Map<string, Map<string, TrustedKey>>();
  for (const { issuer, key } of entries) {
    const keys = byIssuer.get(issuer) ?? new Map<string, TrustedKey>();
    byIssuer.set(issuer, keys.set(key.kid, key));
  }
  return byIssuer;
}

export interface NamedClient {
  readonly entry: TrustPolicy;
  readonly client: TrustedClient;
}

interface SeatedEntry {
  readonly entry: string;
  readonly issuer: string;
  readonly maxUsers: number;
}

@Injectable()
export class TrustedKeyService {
  constructor(
    private readonly staticKeys: StaticKeyProvider,
    private readonly jwksKeys: JwksKeyProvider,
  ) {}

  /**
   * The trusted keys of an issuer and kid for the algorithm, in the order in which to try them. If none fits the algorithm, all keys
   * of the issuer and kid. All have the same policy.
   * @rule D37 Keys are looked up by the pair; a static key wins over a fetched one with the same pair, a configured entry over a
   * stored one (D70).
   * @rule 5.3.2 A key of a deleted entry verifies nothing new. An unknown kid of a JWKS issuer may cause one bounded fetch (D34).
   */
  async find(issuer: string, kid: string, algorithm: Algorithm | undefined): Promise<readonly TrustedKey[]> {
    const key = this.staticKeys.find(issuer, kid);
    if (key === undefined) return this.jwksKeys.find(issuer, kid, algorithm);
    const isStored = key.policy.entryIndex === undefined;
    const configured = isStored ? this.jwksKeys.findConfigured(issuer, kid, algorithm) : [];
    return configured.length > 0 ? configured : [key];
  }

  /**
   * Like `find`, for a logout token: searches entries of its issuer, and entries with this `logoutIssuer`. Configured entries come
   * first, so that no stored entry receives their provider's logouts.
   * @rule P.logoutIssuer The provider signs with a key of the entry, and ends sessions and tokens of the entry's issuer.
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

  /** All issuers of entries. Only for refusals, because it needs a pass over all entries. */
  issuers(): ReadonlySet<string> {
    return new Set(this.entries.map(({ issuer }) => issuer));
  }

  maxUsersOf(issuer: string): number | undefined {
    return maxUsersOf(issuer, this.entries);
  }

  get seatedEntries(): readonly SeatedEntry[] {
    return this.entries.flatMap(({ label: entry, issuer }) => {
      const maxUsers = this.maxUsersOf(issuer);
      return maxUsers === undefined ? [] : [{ entry, issuer, maxUsers }];
    });
  }

  /** Whether an entry allows the flow. Needs a pass over all entries. */
  allow(flow: Flow): boolean {
    return this.entries.some((entry) => flowsOf(entry).has(flow));
  }

  /** Whether an issuer's entry may link users by an e-mail address, apart from the conditions that a token must meet. */
  vouchesFor(issuer: string, email: string): boolean {
    const domain = domainOfAddress(email) ?? '';
    return this.entries.some(
      (entry) =>
        entry.issuer === issuer &&
        entry.suspended !== true &&
        entry.linkExistingUsers !== false &&
        domainsOf(entry)?.has(domain) !== false,
    );
  }

  /** The keys of an issuer in memory. Fetches nothing. */
  keysOf(issuer: string): readonly TrustedKey[] {
    return [...this.staticKeys.keysOf(issuer), ...this.jwksKeys.keysOf(issuer)];
  }

  /** The state of an issuer's first key set without a usable key; undefined if there is none. */
  unusableKeySet(issuer: string): KeySetState | undefined {
    return this.jwksKeys.unusableKeySet(issuer);
  }

  /** Seconds until an unknown kid of an issuer may cause a fetch; undefined if the next one may. */
  secondsToNextSearch(issuer: string): number | undefined {
    return this.jwksKeys.secondsToNextSearch(issuer);
  }

  /** The clients with an id; several if more than one entry names it. */
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
}
