// Applies the stored entries to this process.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { Subscription } from '../../../platform/jobs/notifications.js';
import { Notifications } from '../../../platform/jobs/notifications.js';
import type { Log } from '../../../platform/log/log.js';
import { LOGGER } from '../../../platform/log/log.js';
import { ClientKeyProvider } from '../../assertions/client-keys.js';
import { JwksKeyProvider } from '../jwks/jwks-key.provider.js';
import { StaticKeyProvider } from '../lookup/static-key.provider.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import type { CheckedStoredEntry } from './stored-entry.js';
import { STORED_ENTRIES_RULES } from './stored-entry.js';
import type { StoredEntriesRules } from './stored-entry.reader.js';
import { checkStoredEntries } from './stored-entry.reader.js';
import type { StoredEntriesState } from './stored-entry.repository.js';
import { STORED_ENTRY_CHANNEL, StoredEntryRepository } from './stored-entry.repository.js';

/** How soon a change is seen if its notification is lost. */
const POLL_MS = 3_000;

/**
 * @rule D72 A change applies on every instance within 10 seconds: by notification at once, otherwise by polling. If the table
 * cannot be read, the known entries stay. On the embedded database the only process knows its own changes.
 */
@Injectable()
export class StoredEntryFollower implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private known: StoredEntriesState | undefined;
  private held: readonly TrustedKeyEntry[] = [];
  private logged: ReadonlySet<string> = new Set();
  private subscription: Subscription | undefined;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private isFailing = false;

  constructor(
    private readonly repository: StoredEntryRepository,
    private readonly staticKeys: StaticKeyProvider,
    private readonly jwksKeys: JwksKeyProvider,
    private readonly clientKeys: ClientKeyProvider,
    private readonly notifications: Notifications,
    @Inject(STORED_ENTRIES_RULES) private readonly rules: StoredEntriesRules,
    @Inject(LOGGER) private readonly logger: Log,
  ) {}

  /** Whether the stored entries were read at least once. Before that the trusted issuers are unknown. */
  get isKnown(): boolean {
    return this.known !== undefined;
  }

  /** The entries without problems, in the order of their addition, including suspended ones. A new list after each change. */
  get entries(): readonly TrustedKeyEntry[] {
    return this.held;
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.follow();
    this.subscription = this.notifications.listen(STORED_ENTRY_CHANNEL, () => void this.followNews());
    this.timer = setInterval(() => void this.poll(), POLL_MS);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.subscription?.end();
    await this.reading;
  }

  /** Reads changes. Calls share a running read. Never rejects. */
  follow(): Promise<void> {
    this.reading ??= this.readQuietly().finally(() => (this.reading = undefined));
    return this.reading;
  }

  /** Follows a change by this process. Reads once more, because a running read may have been too early. */
  @OnEvent('svc.audit.token-exchange.stored-entry-changed')
  async followNews(): Promise<void> {
    await this.reading;
    await this.follow();
  }

  /** Only this process changes the embedded database, so it polls only after a failed read. */
  private async poll(): Promise<void> {
    if (this.notifications.hasOtherProcesses || this.isFailing) await this.follow();
  }

  private async readQuietly(): Promise<void> {
    try {
      await this.read();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing)
        this.logger.error(
          { err: error },
          'the stored trusted key entries cannot be read; the known ones stay in use',
        );
      this.isFailing = true;
    }
  }

  /** Reads the state first, so that a change between the two reads is news the next time. */
  private async read(): Promise<void> {
    const state = await this.repository.state();
    if (state === this.known) return;
    const checked = checkStoredEntries(await this.repository.all(), this.rules);
    this.warn(checked);
    await this.trust(checked.flatMap(({ entry }) => entry ?? []));
    this.known = state;
    if (checked.length > 0 || this.logged.size > 0)
      this.logger.info(summaryOf(checked), 'stored trusted key entries read');
  }

  /** Applies all entries in one turn, so that no request sees a part. Waits only for the stored key sets. */
  private async trust(entries: readonly TrustedKeyEntry[]): Promise<void> {
    this.held = entries;
    this.staticKeys.replaceStored(entries.filter((entry) => entry.type === 'static'));
    await Promise.all([
      this.jwksKeys.replaceStored(entries.filter((entry) => entry.type === 'jwks')),
      this.clientKeys.replaceStored(entries),
    ]);
  }

  /** Logs each problem once, until it is solved. */
  private warn(checked: readonly CheckedStoredEntry[]): void {
    const problems = checked.flatMap((one) =>
      one.problems.map((problem) => ({ name: one.stored.name, problem })),
    );
    for (const { name, problem } of problems)
      if (!this.logged.has(keyOf(name, problem)))
        this.logger.warn({ entry: name, problem }, 'a stored trusted key entry takes no tokens');
    this.logged = new Set(problems.map(({ name, problem }) => keyOf(name, problem)));
  }
}

function keyOf(name: string, problem: string): string {
  return JSON.stringify([name, problem]);
}

function summaryOf(checked: readonly CheckedStoredEntry[]): object {
  const usable = checked.flatMap(({ entry }) => entry ?? []);
  const suspended = usable.filter((entry) => entry.suspended === true).length;
  return {
    trusted: usable.length - suspended,
    suspended,
    refused: checked.length - usable.length,
  };
}
