// Limits the requests per minute of each client to what one bucket covers: a flow, or the API.
import type { ExecutionContext } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from './client-address.js';
import type { ThrottleVerdict } from './counting-windows.js';
import { WINDOW_MS } from './throttle.options.js';
import { TooManyRequestsError } from './too-many-requests.error.js';

/**
 * One bucket of requests. All routes under guards of one bucket share its counters: methods and paths do not matter.
 *
 * The package's own guard counts per handler and tells a refused client only when to come back; this one sends
 * `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds) with every answer, and leaves the body of a
 * refusal to an error filter.
 * @rule D19 Over the limit: `Retry-After` beside the RateLimit headers, with one bucket per flow and client.
 * See flow.guards.ts for the two flows' buckets, and each flow's error filter for the body of the 429.
 */
@Injectable()
export abstract class MinuteThrottlerGuard extends ThrottlerGuard {
  /** Names what is limited among the counters. */
  abstract readonly bucket: string;
  /** Requests that a client may make within a minute of its first. */
  abstract limitPerMinute(): number;

  /**
   * In place of the package's, which looks six decorators up by reflection at each request to allow for what no route of
   * ours uses: named throttlers, skipping, limits by decorator.
   * @throws TooManyRequestsError when the client is over its limit
   */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const verdict = await this.count(context);
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    this.announce(reply, verdict);
    if (!verdict.isBlocked) return true;
    void reply.header('Retry-After', verdict.timeToBlockExpire);
    throw new TooManyRequestsError(verdict.timeToBlockExpire);
  }

  /** Whose requests are counted together: those of one address, unless a bucket knows better. */
  protected clientIn({ ip }: FastifyRequest): string {
    return clientOf(ip);
  }

  private count(context: ExecutionContext): Promise<ThrottleVerdict> {
    const key = `${this.bucket} ${this.clientIn(context.switchToHttp().getRequest<FastifyRequest>())}`;
    return this.storageService.increment(key, WINDOW_MS, this.limitPerMinute(), WINDOW_MS, this.bucket);
  }

  private announce(reply: FastifyReply, { totalHits, timeToExpire }: ThrottleVerdict): void {
    const limit = this.limitPerMinute();
    void reply.header('RateLimit-Limit', limit);
    void reply.header('RateLimit-Remaining', Math.max(0, limit - totalHits));
    void reply.header('RateLimit-Reset', timeToExpire);
  }
}
