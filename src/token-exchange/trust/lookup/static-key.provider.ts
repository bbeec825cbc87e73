// Serves the keys that stand in the entries themselves: those of the configuration, and of stored entries.
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

  /** Takes other stored entries, all at once. None of them has the issuer and kid of another, or of a configured one. */
  replaceStored(entries: readonly StaticKeyEntry[]): void {
    this.stored = entries;
    this.keysByIssuer = keysByIssuer([...this.configured, ...entries]);
  }

  /** All of them, suspended ones too. */
  get entries(): readonly StaticKeyEntry[] {
    return [...this.configured, ...this.stored];
  }

  /** All keys of an issuer. */
  keysOf(issuer: string): readonly TrustedKey[] {
    return [...(this.keysByIssuer.get(issuer)?.values() ?? [])];
  }

  /** One key for each static entry, none for one that is suspended. */
  held(): KeysHeld[] {
    return this.entries.map(({ label, issuer, suspended }) => {
      return { entry: label, issuer, count: suspended === true ? 0 : 1 };
    });
  }
}

type KeysByIssuer = ReadonlyMap<string, ReadonlyMap<string, TrustedKey>>;

/** Two maps rather than one joined key: no separator can make two pairs look like one (see D37). */
function keysByIssuer(entries: readonly StaticKeyEntry[]): KeysByIssuer {
  const byIssuer = new Map<string, Map<string, TrustedKey>>();
  for (const { issuer, key } of entries) {
    const keys = byIssuer.get(issuer) ?? new Map<string, TrustedKey>();
    byIssuer.set(issuer, keys.set(key.kid, key));
  }
  return byIssuer;
}
