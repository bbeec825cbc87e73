// Lets operators fetch a key set at once, but not repeatedly.
import { Injectable, Optional } from '@nestjs/common';
import { Administration } from '../../administration/administration.js';
import { CommandError } from '../../administration/command-error.js';
import type { EntryKeySet } from '../../administration/keys/key-sets.operations.js';
import { KeySetOperations } from '../../administration/keys/key-sets.operations.js';
import { Clock } from '../../platform/clock.js';
import { JwksKeyProvider } from '../../token-exchange/instance.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.filter.js';
import type { OperatorCall } from '../api/operator-call.decorator.js';

/** The minimum time between requests to a partner's server, however many operators ask. */
const PAUSE_MS = 5_000;
/** Longer than the leader takes to react and fetch, and shorter than the page waits for a response. */
const WAIT_SECONDS = 20;

@Injectable()
export class KeySetRefresh {
  /** @param keys undefined if token exchange is off */
  constructor(
    private readonly administration: Administration,
    private readonly keySets: KeySetOperations,
    private readonly clock: Clock,
    @Optional() private readonly keys?: JwksKeyProvider,
  ) {}

  /**
   * Fetches a key set, and returns the stored one afterwards.
   * @throws CommandError if there was no outcome in time
   */
  async refresh(urlHash: string, call: OperatorCall): Promise<EntryKeySet> {
    if (this.keys === undefined) throw new OperatorRefusal('unavailable');
    const before = await this.find(urlHash, call);
    this.refuseSoon(before);
    const { entry } = before;
    const asked = { entry, wait: WAIT_SECONDS };
    const [outcome] = await this.administration.perform(this.keySets, 'refresh', asked, call);
    if (outcome?.fetched === null)
      throw new CommandError(
        `No attempt within ${WAIT_SECONDS} seconds: see the log of the leading instance.`,
      );
    return this.find(urlHash, call);
  }

  private async find(urlHash: string, call: OperatorCall): Promise<EntryKeySet> {
    const sets = await this.administration.perform(this.keySets, 'list', {}, call);
    const found = sets.find((set) => set.urlHash === urlHash);
    if (found === undefined) throw new OperatorRefusal('not_found');
    return found;
  }

  private refuseSoon({ lastSuccess, lastFailure }: EntryKeySet): void {
    const fetched = [lastSuccess, lastFailure?.at].map((text) => Date.parse(text ?? ''));
    const latestMs = Math.max(...fetched.filter((ms) => !Number.isNaN(ms)), 0);
    const passedMs = this.clock.nowMs() - latestMs;
    if (passedMs >= 0 && passedMs < PAUSE_MS)
      throw new TooManyRequestsError(Math.ceil((PAUSE_MS - passedMs) / 1000));
  }
}
