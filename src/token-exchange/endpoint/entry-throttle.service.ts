// Counts tokens by their trusted key entries instead of the client's address, if the entries have their own limit.
import { Inject, Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Clock } from '../../platform/clock.js';
import type { RateLimit, RefundingThrottlerStorage } from '../../platform/http/throttle/rate-limit.js';
import {
  canRefund,
  counterKey,
  isOver,
  MemoryCounts,
  NO_LIMIT,
  rateLimitOf,
  THROTTLE_STORAGE,
  TooManyRequestsError,
  WINDOW_MS,
} from '../../platform/http/throttle/rate-limit.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { jtiHashOf } from '../replay/use.repository.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import { entryKeyOf } from '../trust/trusted-key.js';
import type { PerToken, Tokens } from '../verify/external-token.verifier.js';
import type { Flow } from './flows.js';
import { FLOWS } from './flows.js';

/** A hit that may be refunded. */
interface Hit {
  readonly key: string;
  readonly countedAtMs: number;
}

/** Throttle hits of a request. */
interface CountedHits {
  readonly ofEntries: readonly Hit[];
  /** Refunded because the entries count the request; counted again if it fails. */
  readonly ofAddress: Hit | undefined;
}

/** The parts of a request that are counted. */
export interface CountedRequest {
  readonly flow: Flow;
  /** The client's address, as the throttle counts it. */
  readonly clientAddress: string;
  /** The time after its guards, on the monotonic clock in milliseconds. */
  readonly arrivedAtMs: number;
  /** Hits counted outside of its guard, refunded if the request fails. */
  hits: CountedHits | undefined;
}

/** The verified tokens of a request, for the count. */
export type CountedTokens = PerToken<{ readonly key: { readonly policy: TrustPolicy } }> & {
  readonly client?: { readonly id: string };
};

type LimitedPolicy = TrustPolicy & Required<Pick<TrustPolicy, 'perMinute'>>;

@Injectable()
export class EntryThrottleService {
  constructor(
    @Inject(THROTTLE_STORAGE) private readonly storage: ThrottlerStorage,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    private readonly counts: MemoryCounts,
  ) {}

  /**
   * Counts verified tokens by trusted key entries with a limit. Above the limit no token is used up. If every token
   * has such an entry, the hit of the address is refunded. It is counted again if the request fails, because the client that
   * repeats a token may not be the partner that signed it (D75).
   * @rule P.perMinute = D75 Successful requests under an entry with `perMinute` are counted by the entry, all others by their
   * address.
   * Identity assertions are counted by entry and client.
   * @returns the nearest limit, if the address is not counted
   * @throws TooManyRequestsError
   */
  async count(
    request: CountedRequest,
    { subject, actor, client }: CountedTokens,
  ): Promise<RateLimit | undefined> {
    // The actor's entry is counted first, so that above its limit the subject's entry is not counted.
    const policies = (actor === undefined ? [subject] : [actor, subject]).map(({ key }) => key.policy);
    const limited = policies.filter(isLimited);
    if (limited.length === 0) return undefined;
    const ofAddress = limited.length === policies.length ? addressHit(request) : undefined;
    const clientId = request.flow === 'id-jag' ? client?.id : undefined;
    const { hits, rateLimit } = await this.countBy(limited, clientId);
    if (!canRefund(this.storage)) return undefined;
    request.hits = { ofEntries: hits, ofAddress };
    if (ofAddress === undefined) return undefined;
    await this.refund(this.storage, [ofAddress]);
    return rateLimit;
  }

  /** Counts a verified logout by its issuer, or an event by its transmitter. @throws TooManyRequestsError */
  async countOf(what: 'logout of' | 'signals of', issuer: string, perMinute: number): Promise<void> {
    const key = counterKey(what, issuer);
    const verdict = await this.storage.increment(key, WINDOW_MS, perMinute, WINDOW_MS, 'default');
    if (verdict.isBlocked)
      throw new TooManyRequestsError(verdict.timeToBlockExpire, rateLimitOf(verdict, perMinute));
  }

  /**
   * Refunds the hit of the address for a request that its client repeats with the response's time or nonce. This happens once per
   * token, so that nobody can send unlimited requests with one token.
   */
  async excuse(request: CountedRequest, { subject: { claims } }: Tokens): Promise<void> {
    if (!canRefund(this.storage)) return;
    if (isOver(this.counts, counterKey('excused', jtiHashOf(claims.jti)), 1)) return;
    await this.refund(this.storage, [addressHit(request)]);
  }

  /** Charges the address of a failed request instead of its entries. An error here must not hide the failure. */
  async undo({ hits }: CountedRequest): Promise<void> {
    if (hits === undefined || !canRefund(this.storage)) return;
    try {
      const { ofEntries, ofAddress } = hits;
      if (ofAddress !== undefined)
        await this.storage.increment(ofAddress.key, WINDOW_MS, NO_LIMIT, WINDOW_MS, 'default');
      await this.refund(this.storage, ofEntries);
    } catch (error) {
      this.logger.warn({ err: error }, 'a failed request is not counted by its address');
    }
  }

  /** @returns the hits, and the nearest limit @throws TooManyRequestsError with the reached limit */
  private async countBy(
    policies: readonly LimitedPolicy[],
    clientId: string | undefined,
  ): Promise<{ hits: Hit[]; rateLimit?: RateLimit }> {
    const hits: Hit[] = [];
    let nearest: RateLimit | undefined;
    for (const policy of policies) {
      const { perMinute } = policy;
      const key = counterKey('entry', entryKeyOf(policy, clientId));
      const verdict = await this.storage.increment(key, WINDOW_MS, perMinute, WINDOW_MS, 'default');
      const rateLimit = rateLimitOf(verdict, perMinute);
      if (verdict.isBlocked) {
        if (canRefund(this.storage)) await this.refund(this.storage, hits);
        throw new TooManyRequestsError(verdict.timeToBlockExpire, rateLimit);
      }
      hits.push({ key, countedAtMs: this.clock.monotonicMs() });
      if (nearest === undefined || rateLimit.remaining < nearest.remaining) nearest = rateLimit;
    }
    return { hits, rateLimit: nearest };
  }

  private async refund(storage: RefundingThrottlerStorage, hits: readonly Hit[]): Promise<void> {
    for (const { key, countedAtMs } of hits)
      await storage.refund(key, WINDOW_MS, this.clock.monotonicMs() - countedAtMs);
  }
}

function addressHit({ flow, clientAddress, arrivedAtMs }: CountedRequest): Hit {
  return { key: counterKey(FLOWS[flow].endpoint, clientAddress), countedAtMs: arrivedAtMs };
}

function isLimited(policy: TrustPolicy): policy is LimitedPolicy {
  return policy.perMinute !== undefined;
}
