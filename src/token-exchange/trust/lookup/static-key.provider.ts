// Provides the keys in configured and stored entries of type `static`.
import { Inject, Injectable } from '@nestjs/common';
import type { KeysHeld } from '../../host/telemetry.js';
import type { TokenExchangeOptions } from '../../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../../settings/token-exchange.options.js';
import type { StaticKeyEntry, TrustedKey } from '../trusted-key.js';

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
