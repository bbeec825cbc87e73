// Fetches a key set now, for all instances, whenever its turn would have been.
import type { Read } from '../../administration/input.js';
import { readMembers } from '../../administration/input.js';
import type { InstanceParts } from '../../administration/instance-parts.js';
import type { StoredKeySet } from '../../administration/list-key-sets.operation.js';
import { LIST_KEY_SETS } from '../../administration/list-key-sets.operation.js';
import type { ListOperation } from '../../administration/operation.js';
import type { Clock } from '../../token-exchange/foundation/clock.js';
import type { JwksKeyProvider } from '../../token-exchange/keys/jwks/jwks-key.provider.js';
import { TooManyRequestsError } from '../../token-exchange/throttle/too-many-requests.error.js';
import { OperatorRefusal } from '../sign-in/operator-refusal.js';

/** A partner's server is not asked more often, whoever clicks. */
const PAUSE_MS = 5_000;

interface ChosenKeySet {
  readonly urlHash: string;
}

export class KeySetRefresh {
  /** @param keys undefined where token exchange is off */
  constructor(
    private readonly keys: JwksKeyProvider | undefined,
    private readonly clock: Clock,
  ) {}

  /** A list of one: what is stored of the key set afterwards. */
  readonly operation: ListOperation<ChosenKeySet, StoredKeySet> = {
    name: 'keys refresh',
    read: (input) => readMembers<ChosenKeySet>(input, { urlHash: text }),

    list: (chosen, parts, stop) => this.fetched(chosen, parts, stop),
  };

  private async *fetched({ urlHash }: ChosenKeySet, parts: InstanceParts, stop: AbortSignal) {
    if (this.keys === undefined) throw new OperatorRefusal('unavailable');
    if (!this.keys.hasKeySet(urlHash)) throw new OperatorRefusal('not_found');
    const chosen = { urlHashes: [urlHash] };
    for await (const [before] of LIST_KEY_SETS.list(chosen, parts, stop)) this.refuseSoon(before);
    await this.keys.refreshNow(urlHash);
    yield* LIST_KEY_SETS.list(chosen, parts, stop);
  }

  private refuseSoon(stored: StoredKeySet | undefined): void {
    const fetched = [stored?.lastSuccess, stored?.lastFailure?.at].map((text) => Date.parse(text ?? ''));
    const latestMs = Math.max(...fetched.filter((ms) => !Number.isNaN(ms)), 0);
    const passedMs = this.clock.nowMs() - latestMs;
    if (passedMs >= 0 && passedMs < PAUSE_MS)
      throw new TooManyRequestsError(Math.ceil((PAUSE_MS - passedMs) / 1000));
  }
}

function text(value: unknown): Read<string> {
  return typeof value === 'string' ? { value } : { rule: 'must be a text' };
}
