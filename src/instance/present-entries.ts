// The current trusted key entries, for code outside token exchange.
import type { TrustedKeyEntry } from '../token-exchange/instance.js';

/** The configured and the stored entries. */
export class PresentEntries<Entry = TrustedKeyEntry> {
  private all: readonly Entry[];
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly configured: readonly Entry[]) {
    this.all = configured;
  }

  /** The same list until an entry changes. */
  get list(): readonly Entry[] {
    return this.all;
  }

  /** @param stored all stored entries, including suspended ones */
  replaceStored(stored: readonly Entry[]): void {
    this.all = [...this.configured, ...stored];
    for (const onChange of this.listeners) onChange();
  }

  /** Listeners are called after each change, in the order of their addition. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
}
