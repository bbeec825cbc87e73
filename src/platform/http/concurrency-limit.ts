// Limits the number of requests in progress.
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LONGEST_TURN_MS } from '../database/wait-limit.js';
import type { Log } from '../log/log.js';
import { RareWarning } from '../log/log.js';
import type { RequestState } from './http-messages.js';
import { COMMON_HEADERS, newRequestId, stateOf, UNFRAMED_HEADERS } from './http-messages.js';

const MESSAGE = 'Too many requests are in progress; send the request again later';
/** The error body of every endpoint, up to the request id. */
const BODY = JSON.stringify({
  error: 'temporarily_unavailable',
  error_description: MESSAGE,
  message: MESSAGE,
}).slice(0, -1);
/** A flat list of names and values: Node.js takes 50 % longer for an object. */
const HEADERS = Object.entries({
  ...COMMON_HEADERS,
  ...UNFRAMED_HEADERS,
  // Seconds, as in every other temporarily_unavailable.
  'retry-after': '5',
  'content-type': 'application/json; charset=utf-8',
}).flat();
/**
 * A higher limit makes no shared statement larger, but every turn of the event loop longer. At 2,000
 * exchanges a second, this many take 100 ms.
 */
const PROCESSED_AT_ONCE = 200;
/**
 * At 2,000 exchanges a second, the last of them waits for two seconds, the default limit of a request
 * (`SVC_DATABASE_WAIT_MS`). More requests would only wait for their 503.
 */
const MAX_IN_PROGRESS = 4_000;
/**
 * Health checks are never refused: restarting a process because it does not answer them makes an overload
 * worse.
 */
const HEALTH = /^\/healthz(?:\/readiness)?(?:\?|$)/;

/** A request in progress whose processing has not begun. */
interface Waiting {
  /** On the monotonic clock, in milliseconds. */
  readonly sinceMs: number;
  readonly begin: () => void;
}

/**
 * A request is in progress from its last byte, so that slow clients do not use up the limit, until its
 * response. Requests above the limit get 503 at once. Most are refused before Fastify, whose hooks take a
 * third of the time of an exchange. Only some of the requests in progress are processed at once. The others
 * wait in order, because otherwise every response would be as late as the last.
 * @rule D102 A request above the limit gets 503 with `Retry-After` at once, and uses nothing up. Health
 * checks are always answered.
 */
export class ConcurrencyLimit {
  /** The highest number of requests in progress. */
  most = MAX_IN_PROGRESS;
  private readonly warning: RareWarning;
  private inProgress = 0;
  private processed = 0;
  /** Oldest first. */
  private readonly waiting: Waiting[] = [];
  /** When a request that waited for the database last succeeded, on the monotonic clock. */
  private servedAtMs = Number.NEGATIVE_INFINITY;

  /**
   * A request that has waited too long gets 503. New requests get 503 once the oldest has waited more than
   * half that time.
   * @param waitMs how long a request may wait while none succeeds, in milliseconds; `LONGEST_TURN_MS` while
   * others succeed
   * @param onRefused called for each refused request
   */
  constructor(
    private readonly waitMs: number,
    logger: Pick<Log, 'warn'>,
    private readonly onRefused: () => void,
  ) {
    this.warning = new RareWarning(
      logger,
      'requests are answered 503: too many are in progress, or they wait too long',
    );
  }

  /** How many requests are in progress. */
  get count(): number {
    return this.inProgress;
  }

  /** The handler that Node.js calls for each request, before Fastify's. */
  wrap(handler: RequestListener): RequestListener {
    return (request, response) => {
      if (this.hasRoomFor(request)) handler(request, response);
      else this.refuse(response);
    };
  }

  /** Counts a server's requests. Call it before the server listens. */
  watch(server: FastifyInstance): void {
    server.addHook('preHandler', (request, reply, done) => {
      // Other requests may have reached the limit while this body was read.
      if (!this.hasRoomFor(request.raw)) return this.refuse(reply.hijack().raw);
      this.inProgress += 1;
      stateOf(request).isInProgress = true;
      if (this.processed >= PROCESSED_AT_ONCE && !HEALTH.test(request.url))
        return this.wait(request, reply, done);
      this.processed += 1;
      this.givePlace(stateOf(request));
      done();
    });
    server.addHook('onSend', (request, reply, payload, done) => {
      const state = stateOf(request);
      if (state.waitedMs !== undefined && reply.statusCode < 400) this.servedAtMs = performance.now();
      this.leave(state);
      done(null, payload);
    });
  }

  private hasRoomFor({ url = '' }: IncomingMessage): boolean {
    const [oldest] = this.waiting;
    const isBehind = oldest !== undefined && this.hasWaited(oldest.sinceMs, 1 / 2);
    return (this.inProgress < this.most && !isBehind) || HEALTH.test(url);
  }

  private wait(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const sinceMs = performance.now();
    const begin = () => {
      const isLate = this.hasWaited(sinceMs, 1);
      this.givePlace(stateOf(request));
      if (!isLate && !request.raw.socket.destroyed) return done();
      this.leave(stateOf(request));
      this.refuse(reply.hijack().raw);
    };
    // Bound to this request's span and context, because another request calls `begin`.
    this.waiting.push({ sinceMs, begin: AsyncResource.bind(begin) });
  }

  /** Whether more than the given share of a request's waiting time has passed. */
  private hasWaited(sinceMs: number, share: number): boolean {
    const nowMs = performance.now();
    const isServing = nowMs - this.servedAtMs < this.waitMs / 2;
    return nowMs - sinceMs > share * (isServing ? LONGEST_TURN_MS : this.waitMs);
  }

  private leave(state: RequestState): void {
    if (!state.isInProgress) return;
    state.isInProgress = false;
    this.inProgress -= 1;
    state.releaseSlot?.();
  }

  private givePlace(state: RequestState): void {
    state.releaseSlot = () => {
      state.releaseSlot = undefined;
      const next = this.waiting.shift();
      if (next === undefined) this.processed -= 1;
      else setImmediate(next.begin);
    };
  }

  /** Node.js reads and drops the rest of the request. */
  private refuse(response: ServerResponse): void {
    this.onRefused();
    this.warning.happened();
    const requestId = newRequestId();
    const body = `${BODY},"requestId":"${requestId}"}`;
    const ofThisOne = ['x-request-id', requestId, 'content-length', String(Buffer.byteLength(body))];
    response.writeHead(503, [...HEADERS, ...ofThisOne]).end(body);
  }
}
