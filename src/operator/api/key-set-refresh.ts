// Has a key set fetched at once for an operator who asks, but not again and again.
import { Injectable, Optional } from '@nestjs/common';
import { CommandError } from '../../administration/command-error.js';
import type { StoredKeySet } from '../../administration/key-sets.operations.js';
import { LIST_KEY_SETS, REFRESH_KEY_SETS } from '../../administration/key-sets.operations.js';
import { Clock } from '../../platform/clock.js';
import { JwksKeyProvider } from '../../token-exchange/instance.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';
import type { OperatorCall } from './operator-calls.js';
import { OperatorCalls } from './operator-calls.js';

/** A partner's server is not asked more often, also by several operators. */
const PAUSE_MS = 5_000;
/** Longer than the leader takes to hear of it and to fetch, and shorter than the page waits for an answer. */
const WAIT_SECONDS = 20;

@Injectable()
export class KeySetRefresh {
  /** @param keys undefined where token exchange is off */
  constructor(
    private readonly calls: OperatorCalls,
    private readonly clock: Clock,
    @Optional() private readonly keys?: JwksKeyProvider,
  ) {}

  /**
   * Returns the stored key set afterwards.
   * @throws CommandError where no outcome came in time
   */
  async refresh(urlHash: string, call: OperatorCall): Promise<StoredKeySet> {
    if (this.keys === undefined) throw new OperatorRefusal('unavailable');
    if (!this.keys.hasKeySet(urlHash)) throw new OperatorRefusal('not_found');
    const urlHashes = [urlHash];
    const [before] = await this.calls.read(LIST_KEY_SETS, { urlHashes }, call);
    this.refuseSoon(before);
    const [outcome] = await this.calls.read(REFRESH_KEY_SETS, { urlHashes, waitSeconds: WAIT_SECONDS }, call);
    if (outcome !== undefined) return outcome;
    throw new CommandError(`No attempt within ${WAIT_SECONDS} seconds: see the log of the leading instance.`);
  }

  private refuseSoon(stored: StoredKeySet | undefined): void {
    const fetched = [stored?.lastSuccess, stored?.lastFailure?.at].map((text) => Date.parse(text ?? ''));
    const latestMs = Math.max(...fetched.filter((ms) => !Number.isNaN(ms)), 0);
    const passedMs = this.clock.nowMs() - latestMs;
    if (passedMs >= 0 && passedMs < PAUSE_MS)
      throw new TooManyRequestsError(Math.ceil((PAUSE_MS - passedMs) / 1000));
  }
}
