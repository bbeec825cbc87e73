// The current trusted key entries, for code outside token exchange.
import type { TrustedKeyEntry } from '../token-exchange/instance.js';

/** The configured and the stored entries. */
export class PresentEntries<Entry = TrustedKeyEntry> {
  private known: readonly Entry[] = [];
  private all: readonly Entry[];

  /** @param stored returns the same list until it changes, with suspended entries */
  constructor(
    private readonly configured: readonly Entry[],
    private readonly stored: () => readonly Entry[] = () => this.known,
  ) {
    this.all = configured;
  }

  /** The same list until an entry changes. */
  get list(): readonly Entry[] {
    const stored = this.stored();
    if (stored !== this.known) {
      this.known = stored;
      this.all = [...this.configured, ...stored];
    }
    return this.all;
  }
}
