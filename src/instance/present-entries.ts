// The trusted key entries as they are now, for what answers by them outside of token exchange.
import type { TrustedKeyEntry } from '../token-exchange/instance.js';

/** The configured entries and, once they are followed, the stored ones. */
export class PresentEntries<Entry = TrustedKeyEntry> {
  private known: readonly Entry[] = [];
  private stored = () => this.known;
  private all: readonly Entry[];

  constructor(private readonly configured: readonly Entry[]) {
    this.all = configured;
  }

  /** @param stored answers the same list until there is another; suspended entries are in it */
  follow(stored: () => readonly Entry[]): void {
    this.stored = stored;
  }

  /** The same list until there is another. */
  get list(): readonly Entry[] {
    const stored = this.stored();
    if (stored !== this.known) {
      this.known = stored;
      this.all = [...this.configured, ...stored];
    }
    return this.all;
  }
}
