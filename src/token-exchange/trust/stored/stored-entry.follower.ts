// Applies the stored entries to this process.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Clock } from '../../../platform/clock.js';
import { Follower } from '../../../platform/jobs/follower.js';
import { Notifications } from '../../../platform/jobs/notifications.js';
import type { Log } from '../../../platform/log/log.js';
import { LOGGER } from '../../../platform/log/log.js';
import { ClientKeyProvider } from '../../assertions/client-keys.js';
import { JwksService } from '../jwks/jwks.service.js';
import { JwksKeyProvider } from '../jwks/jwks-key.provider.js';
import { StaticKeyProvider } from '../lookup/trusted-key.service.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import type { CheckedStoredEntry, StoredEntriesRules } from './stored-entry.js';
import { checkStoredEntries, STORED_ENTRIES_RULES } from './stored-entry.js';
import type { StoredEntriesState } from './stored-entry.repository.js';
import { STORED_ENTRY_CHANNEL, StoredEntryRepository } from './stored-entry.repository.js';

/** How soon a change is seen if its notification is lost. */
const POLL_MS = 3_000;

/**
 * @rule D72 A change applies on every instance within 10 seconds: by notification at once, otherwise by polling. If the table
 * cannot be read, the known entries stay.
 */
@Injectable()
export class StoredEntryFollower implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private known: StoredEntriesState | undefined;
  private onChanged: (entries: readonly TrustedKeyEntry[]) => void = () => undefined;
  private logged: ReadonlySet<string> = new Set();
  private readonly follower: Follower;

  constructor(
    private readonly repository: StoredEntryRepository,
    private readonly staticKeys: StaticKeyProvider,
    private readonly jwksKeys: JwksKeyProvider,
    private readonly clientKeys: ClientKeyProvider,
    private readonly jwks: JwksService,
    notifications: Notifications,
    clock: Clock,
    @Inject(STORED_ENTRIES_RULES) private readonly rules: StoredEntriesRules,
    @Inject(LOGGER) private readonly logger: Log,
  ) {
    const failure = 'the stored trusted key entries cannot be read; the known ones stay in use';
    const followed = { channel: STORED_ENTRY_CHANNEL, pollMs: POLL_MS, failure, read: () => this.read() };
    this.follower = new Follower(followed, notifications, clock, logger);
  }

  /** Whether the stored entries were read at least once. Before that the trusted issuers are unknown. */
  get isKnown(): boolean {
    return this.known !== undefined;
  }

  /** @param listener receives the entries without problems after each change, in the order of their addition, including suspended ones */
  onChange(listener: (entries: readonly TrustedKeyEntry[]) => void): void {
    this.onChanged = listener;
  }

  onApplicationBootstrap(): Promise<void> {
    return this.follower.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.follower.stop();
  }

  /** Reads a change by this process. Never rejects. */
  @OnEvent('svc.audit.token-exchange.stored-entry-changed')
  followNews(): Promise<void> {
    return this.follower.followNews();
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
    this.onChanged(entries);
    this.staticKeys.replaceStored(entries.filter((entry) => entry.type === 'static'));
    const added = this.jwksKeys.replaceStored(entries.filter((entry) => entry.type === 'jwks'));
    await this.jwks.begin([...added, ...this.clientKeys.replaceStored(entries)]);
  }

  /** Logs each problem once, until it is solved. */
  private warn(checked: readonly CheckedStoredEntry[]): void {
    const problems = checked.flatMap((one) =>
      one.problems.map((problem) => ({ name: one.stored.name, problem })),
    );
    for (const { name, problem } of problems)
      if (!this.logged.has(keyOf(name, problem)))
        this.logger.warn({ entry: name, problem }, 'tokens of a stored trusted key entry are refused');
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
