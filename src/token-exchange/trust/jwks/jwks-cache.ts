// The cached key sets of all JWKS entries: those of the configuration, which stay, and those of stored entries, which change.
import type { Log } from '../../../platform/log/log.js';
import type { JwksEntry } from '../trusted-key.js';
import { JwksCacheEntry } from './jwks-cache-entry.js';
import type { JwksOptions } from './jwks-options.js';

export class JwksCache {
  /** In the order of the configuration. */
  readonly configured: readonly JwksCacheEntry[];
  private all: readonly JwksCacheEntry[];

  constructor(
    private readonly options: Pick<JwksOptions, 'entries' | 'maxStaleSeconds'>,
    private readonly logger: Log,
  ) {
    this.configured = options.entries.map((entry) => this.cacheOf(entry));
    this.all = this.configured;
  }

  /** Configured ones first. */
  get entries(): readonly JwksCacheEntry[] {
    return this.all;
  }

  /** Takes other stored entries. The keys of an address that was there before stay, under the policy that its entry has now. */
  replaceStored(entries: readonly JwksEntry[]): void {
    const held = new Map(
      this.all.slice(this.configured.length).map((cached) => [cached.address.urlHash, cached]),
    );
    const stored = entries.map((entry) => {
      const fresh = this.cacheOf(entry);
      const cached = held.get(fresh.address.urlHash) ?? fresh;
      cached.trustBy(entry);
      return cached;
    });
    this.all = [...this.configured, ...stored];
  }

  private cacheOf(entry: JwksEntry): JwksCacheEntry {
    return new JwksCacheEntry(entry, this.options.maxStaleSeconds, this.logger);
  }
}
