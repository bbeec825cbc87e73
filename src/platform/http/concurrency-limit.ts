// Limits how many requests are in progress.
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LONGEST_TURN_MS } from '../database/wait-limit.js';
import { newRequestId } from '../log/request-id.js';
import { COMMON_HEADERS, UNFRAMED_HEADERS } from './answers.js';
import type { Log } from '../log/log.js';
import { RareWarning } from '../log/log.js';
import type { RequestState } from './http-answers.js';
import { stateOf } from './http-answers.js';

const MESSAGE = 'The service has as many requests in progress as it takes; send it again later';
/** The error body of every endpoint, without its end, which has the id. */
const BODY = JSON.stringify({
  error: 'temporarily_unavailable',
  error_description: MESSAGE,
  message: MESSAGE,
}).slice(0, -1);
/** Names and values in turns: Node.js takes half as long again for an object. */
const HEADERS = Object.entries({
  ...COMMON_HEADERS,
  ...UNFRAMED_HEADERS,
  // In seconds, as in every other temporarily_unavailable.
  'retry-after': '5',
  'content-type': 'application/json; charset=utf-8',
}).flat();
/** More make no shared statement larger, and every turn of the event loop longer. At 2,000 exchanges a second these take 100 ms. */
const PROCESSED_AT_ONCE = 200;
/**
 * At 2,000 exchanges a second the last of them waits for two seconds, which is as long as requests wait by default
 * (`SVC_DATABASE_WAIT_MS`). More would only wait for their 503.
 */
const MOST_IN_PROGRESS = 4_000;
/** A restart of a process that answers no health check makes an overload worse. */
const HEALTH = /^\/healthz(?:\/readiness)?(?:\?|$)/;

/** A request in progress that is not processed yet. */
interface Waiting {
  /** On the monotonic clock. */
  readonly sinceMs: number;
  readonly begin: () => void;
}

/**
 * A request counts from its last byte, so that a slow client takes no place, until its answer. Requests above the limit get 503 at once, most
 * of them before Fastify, whose hooks take a third of the time of an exchange. Of those in progress some are processed at once; the
 * others wait in their order, because all at once would answer each of them as late as the last.
 * @rule D102 A request above the limit gets 503 with `Retry-After` at once, and nothing is used up for it. Health is always answered.
 */
export class ConcurrencyLimit {
  /** How many requests may be in progress. */
  most = MOST_IN_PROGRESS;
  private readonly warning: RareWarning;
  private inProgress = 0;
  private processed = 0;
  /** The oldest first. */
  private readonly waiting: Waiting[] = [];
  /** When a request that waits for the database has succeeded last, on the monotonic clock. */
  private servedAtMs = Number.NEGATIVE_INFINITY;

  /**
   * A request that has waited for too long gets 503. New requests get 503 while the oldest has waited for more than half as long.
   * @param waitMs how long a request may wait, in milliseconds, while none succeeds; `LONGEST_TURN_MS` while others do
   * @param onRefused called for each request that is refused
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

  /** The handler that Node.js calls for each request, in front of Fastify's. */
  standBefore(handler: RequestListener): RequestListener {
    return (request, response) => {
      if (this.hasRoomFor(request)) handler(request, response);
      else this.refuse(response);
    };
  }

  /** Counts the requests of a server. Call it before the server listens. */
  watch(server: FastifyInstance): void {
    server.addHook('preHandler', (request, reply, done) => {
      // Others may have reached the limit while the body of this one was read.
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
    // Bound to this request's span and context: `begin` is called in those of another request.
    this.waiting.push({ sinceMs, begin: AsyncResource.bind(begin) });
  }

  /** Whether it has waited since then for more than that share of what a request may wait. */
  private hasWaited(sinceMs: number, share: number): boolean {
    const nowMs = performance.now();
    const isServing = nowMs - this.servedAtMs < this.waitMs / 2;
    return nowMs - sinceMs > share * (isServing ? LONGEST_TURN_MS : this.waitMs);
  }

  private leave(state: RequestState): void {
    if (!state.isInProgress) return;
    state.isInProgress = false;
    this.inProgress -= 1;
    state.giveUpPlace?.();
  }

  private givePlace(state: RequestState): void {
    state.giveUpPlace = () => {
      state.giveUpPlace = undefined;
      const next = this.waiting.shift();
      if (next === undefined) this.processed -= 1;
      else setImmediate(next.begin);
    };
  }

  /** Node.js reads the rest of the request and drops it. */
  private refuse(response: ServerResponse): void {
    this.onRefused();
    this.warning.happened();
    const requestId = newRequestId();
    const body = `${BODY},"requestId":"${requestId}"}`;
    const ofThisOne = ['x-request-id', requestId, 'content-length', String(Buffer.byteLength(body))];
    response.writeHead(503, [...HEADERS, ...ofThisOne]).end(body);
  }
}
