// Serves the keys that stand in the configuration itself.
import { Inject, Injectable } from '@nestjs/common';
import type { KeysHeld } from '../host.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../token-exchange.options.js';
import type { StaticKeyEntry, TrustedKey } from './trusted-key.js';

/** Static keys by issuer and kid. They never change while the process runs. */
@Injectable()
export class StaticKeyProvider {
  private readonly keysByIssuer = new Map<string, Map<string, TrustedKey>>();

  constructor(@Inject(TOKEN_EXCHANGE_OPTIONS) { trustedKeys }: Pick<TokenExchangeOptions, 'trustedKeys'>) {
    for (const entry of trustedKeys) {
      if (entry.type === 'static') this.add(entry);
    }
  }

  find(issuer: string, kid: string): TrustedKey | undefined {
    return this.keysByIssuer.get(issuer)?.get(kid);
  }

  /** One key for each static entry. */
  held(): KeysHeld[] {
    const keys = [...this.keysByIssuer.values()].flatMap((byKid) => [...byKid.values()]);
    return keys.map(({ policy }) => ({ entry: policy.label, issuer: policy.issuer, count: 1 }));
  }

  /** Two maps rather than one joined key: no separator can make two pairs look like one (see D37). */
  private add({ issuer, key }: StaticKeyEntry): void {
    const keys = this.keysByIssuer.get(issuer) ?? new Map<string, TrustedKey>();
    this.keysByIssuer.set(issuer, keys.set(key.kid, key));
  }
}
