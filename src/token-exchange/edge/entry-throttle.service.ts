// Counts tokens by their trusted key entries, where these have a limit of their own, instead of by the address that sends them.
import { Inject, Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Flow } from '../flow.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import type { TrustPolicy } from '../trust/trust-policy.js';
import { clientOf } from '../../platform/http/throttle/client-address.js';
import { NO_LIMIT, canRefund } from '../../platform/http/throttle/refunding-throttler.storage.js';
import type { RefundingThrottlerStorage } from '../../platform/http/throttle/refunding-throttler.storage.js';
import {
  THROTTLE_STORAGE,
  WINDOW_MS,
  counterKey,
} from '../../platform/http/throttle/minute-throttler.guard.js';
import type { RateLimit, RateLimited } from '../../platform/http/throttle/rate-limit.js';
import { rateLimitOf } from '../../platform/http/throttle/rate-limit.js';
import { TooManyRequestsError } from '../../platform/http/throttle/too-many-requests.error.js';

/** Who has sent a request, as the guard of its flow has counted it. */
export type Sender = Pick<HttpRequest, 'ip'>;

/** A request that the guard of its flow has let through. */
export interface Arrival {
  readonly flow: Flow;
  readonly sender: Sender;
  /** On the monotonic clock, in milliseconds: not before the guard has counted it. */
  readonly arrivedAtMs: number;
}

/** The verified tokens of a request, as far as they are counted. */
export interface TrustedParties {
  readonly subject: { readonly key: { readonly policy: TrustPolicy } };
  readonly actor?: { readonly key: { readonly policy: TrustPolicy } };
}

/** A hit that may be given back. */
interface Hit {
  readonly key: string;
  readonly countedAtMs: number;
}

type LimitedPolicy = TrustPolicy & Required<Pick<TrustPolicy, 'perMinute'>>;

@Injectable()
export class EntryThrottleService {
  constructor(
    @Inject(THROTTLE_STORAGE) private readonly storage: ThrottlerStorage,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
  ) {}

  /** What `arrivedAtMs` is measured by. */
  nowMs(): number {
    return this.clock.monotonicMs();
  }

  /**
   * Runs what follows the verification of tokens. Those of entries with a limit are counted by their entries first: above the
   * limit nothing is run, and the tokens stay good. Where each has such an entry the address gets its request back, unless the
   * work fails: whoever sends a token again and again need not be the partner who has signed it once (D75).
   * @rule P.perMinute What succeeds under an entry with `perMinute` is counted by the entry, all else by its address.
   * @throws TooManyRequestsError
   */
  counted<T extends RateLimited>(
    arrival: Arrival,
    parties: TrustedParties,
    work: () => Promise<T>,
  ): Promise<T> {
    const { subject, actor } = parties;
    if (!isLimited(subject.key.policy) && (actor === undefined || !isLimited(actor.key.policy)))
      return work();
    return this.countedByEntries(arrival, parties, work);
  }

  private async countedByEntries<T extends RateLimited>(
    arrival: Arrival,
    { subject, actor }: TrustedParties,
    work: () => Promise<T>,
  ): Promise<T> {
    // The actor's first: it is the actor who asks, and above its limit the subject's entry is not asked.
    const policies = (actor === undefined ? [subject] : [actor, subject]).map(({ key }) => key.policy);
    const limited = policies.filter(isLimited);
    const { hits, rateLimit } = await this.count(limited);
    if (!canRefund(this.storage)) return work();
    const address = limited.length === policies.length ? this.addressHit(arrival) : undefined;
    if (address !== undefined) await this.refund(this.storage, [address]);
    try {
      const result = await work();
      return address === undefined ? result : { ...result, rateLimit };
    } catch (error) {
      await this.undo(this.storage, hits, address);
      throw error;
    }
  }

  /** @returns the hits, and the limit that is nearest @throws TooManyRequestsError with the limit that is reached */
  private async count(policies: readonly LimitedPolicy[]): Promise<{ hits: Hit[]; rateLimit?: RateLimit }> {
    const hits: Hit[] = [];
    let nearest: RateLimit | undefined;
    for (const policy of policies) {
      const { perMinute } = policy;
      const key = counterKey('entry', nameOf(policy));
      const verdict = await this.storage.increment(key, WINDOW_MS, perMinute, WINDOW_MS, 'default');
      const rateLimit = rateLimitOf(verdict, perMinute);
      if (verdict.isBlocked) {
        if (canRefund(this.storage)) await this.refund(this.storage, hits);
        throw new TooManyRequestsError(verdict.timeToBlockExpire, rateLimit);
      }
      hits.push({ key, countedAtMs: this.nowMs() });
      if (nearest === undefined || rateLimit.remaining < nearest.remaining) nearest = rateLimit;
    }
    return { hits, rateLimit: nearest };
  }

  private addressHit({ flow, sender, arrivedAtMs }: Arrival): Hit {
    return { key: counterKey(flow, clientOf(sender.ip)), countedAtMs: arrivedAtMs };
  }

  private async refund(storage: RefundingThrottlerStorage, hits: readonly Hit[]): Promise<void> {
    for (const { key, countedAtMs } of hits) await storage.refund(key, WINDOW_MS, this.nowMs() - countedAtMs);
  }

  /** What the failure was is more important than where it is counted. */
  private async undo(storage: RefundingThrottlerStorage, hits: readonly Hit[], address?: Hit): Promise<void> {
    try {
      if (address !== undefined)
        await storage.increment(address.key, WINDOW_MS, NO_LIMIT, WINDOW_MS, 'default');
      await this.refund(storage, hits);
    } catch (error) {
      this.logger.warn({ err: error }, 'a failed request is not counted by its address');
    }
  }
}

/** Two entries of one issuer are counted apart, and so are two of one label. */
function nameOf({ entryIndex, label, issuer }: TrustPolicy): string {
  return JSON.stringify([entryIndex, label, issuer]);
}

function isLimited(policy: TrustPolicy): policy is LimitedPolicy {
  return policy.perMinute !== undefined;
}
