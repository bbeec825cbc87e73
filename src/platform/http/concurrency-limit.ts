// How many requests the process works for at one time: one more is refused before it costs anything.
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { lingerAfterAnswer } from './lingering-close.js';
import { newRequestId } from './request-id.js';
import { COMMON_HEADERS, UNFRAMED_HEADERS } from './common-headers.js';
import { RareWarning } from './rare-warning.js';

const MESSAGE = 'The service has as many requests in progress as it takes; send it again later';
/** In the words of all endpoints, but for the end, which has the id. */
const BODY = JSON.stringify({
  error: 'temporarily_unavailable',
  error_description: MESSAGE,
  message: MESSAGE,
}).slice(0, -1);
/** Names and values in turns: an object of them takes Node.js half as long again. */
const HEADERS = Object.entries({
  ...COMMON_HEADERS,
  ...UNFRAMED_HEADERS,
  // In seconds; as all that is temporarily unavailable says.
  'retry-after': '5',
  'content-type': 'application/json; charset=utf-8',
}).flat();
/** At 2,000 exchanges a second they are 100 ms; more of them make no more of each batch, and each turn of the event loop longer. */
const WORKED_FOR_AT_ONCE = 200;
/** Who takes longer waits for something that is not this process, such as a partner's key set, and keeps others from nothing. */
const LONGEST_WORK_MS = 1_000;
/** A process that is restarted since it does not say that it lives makes the overload worse. */
const HEALTH = /^\/healthz(?:\/readiness)?(?:\?|$)/;

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the limit counts it. */
    isInProgress?: boolean;
    /** While it is one of those that are worked for at once. */
    place?: NodeJS.Timeout;
  }
}

interface Waiting {
  readonly begin: () => void;
  /** On the monotonic clock. */
  readonly sinceMs: number;
}

/**
 * A request counts once it has arrived whole, so that slow clients take nobody's place, until it has its answer. Of those that count the
 * service works for so many at once, and for the others in the order in which they came; whoever is late by then would be given up by
 * its client, and is refused. Most are refused by their headers, before Fastify: its hooks take a third of what an exchange takes.
 * @rule D102 A request above the limit gets 503 with `Retry-After` at once; nothing is used up for it. Health is always
 * answered.
 */
export class ConcurrencyLimit {
  private readonly warning: RareWarning;
  private inProgress = 0;
  private workedFor = 0;
  /** Of those in progress, in the order in which they came. */
  private readonly waiting: Waiting[] = [];

  /**
   * @param most in progress, 1 or more
   * @param waitMs how long one of them waits for its turn; while the first in turn has waited half of that, others are refused
   * @param onRefused called for each that is refused; for a metric
   */
  constructor(
    private readonly most: number,
    private readonly waitMs: number,
    logger: Pick<Logger, 'warn'>,
    private readonly onRefused: () => void,
  ) {
    this.warning = new RareWarning((count) =>
      logger.warn(
        { count },
        'requests are answered 503: there are as many in progress as SVC_MAX_REQUESTS_IN_PROGRESS allows, or they wait too long',
      ),
    );
  }

  /** How many have come and have no answer yet. */
  get count(): number {
    return this.inProgress;
  }

  /** What Node.js is to call for each request, instead of the handler of Fastify. */
  standBefore(handler: RequestListener): RequestListener {
    return (request, response) => {
      if (this.hasRoomFor(request)) handler(request, response);
      else this.refuse(request, response);
    };
  }

  /** Counts what a server works for; to be called before it listens. */
  watch(server: FastifyInstance): void {
    server.decorateRequest('isInProgress', false);
    server.decorateRequest('place');
    server.addHook('preHandler', (request, reply, done) => {
      // Of those whose bodies were under way there may be too many by now.
      if (!this.hasRoomFor(request.raw)) return this.refuse(request.raw, reply.hijack().raw);
      this.inProgress += 1;
      request.isInProgress = true;
      if (this.workedFor < WORKED_FOR_AT_ONCE || HEALTH.test(request.url)) this.work(request, done);
      else this.wait(request, reply, done);
    });
    server.addHook('onSend', (request, _reply, payload, done) => {
      this.leave(request);
      done(null, payload);
    });
  }

  private hasRoomFor({ url = '' }: IncomingMessage): boolean {
    const [first] = this.waiting;
    const isBehind = first !== undefined && performance.now() - first.sinceMs > this.waitMs / 2;
    return (this.inProgress < this.most && !isBehind) || HEALTH.test(url);
  }

  private work(request: FastifyRequest, done: () => void): void {
    this.workedFor += 1;
    request.place = setTimeout(() => this.freePlace(request), LONGEST_WORK_MS);
    done();
  }

  private freePlace(request: FastifyRequest): void {
    if (request.place === undefined) return;
    clearTimeout(request.place);
    request.place = undefined;
    this.workedFor -= 1;
    this.beginNext();
  }

  private beginNext(): void {
    const next = this.workedFor < WORKED_FOR_AT_ONCE ? this.waiting.shift() : undefined;
    if (next !== undefined) setImmediate(next.begin);
  }

  private wait(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const sinceMs = performance.now();
    const begin = () => {
      const isLate = performance.now() - sinceMs > this.waitMs;
      if (!isLate && !request.raw.socket.destroyed) return this.work(request, done);
      this.leave(request);
      this.refuse(request.raw, reply.hijack().raw);
      this.beginNext();
    };
    // Its span, and what else is bound to a request, is not that of the request whose answer ends the wait.
    this.waiting.push({ begin: AsyncResource.bind(begin), sinceMs });
  }

  /** What is left of the request, Node.js reads and forgets. */
  private refuse(request: IncomingMessage, response: ServerResponse): void {
    this.onRefused();
    this.warning.happened();
    if (response.hasHeader('connection')) lingerAfterAnswer(request);
    const requestId = newRequestId();
    const body = `${BODY},"requestId":"${requestId}"}`;
    const ofThisOne = ['x-request-id', requestId, 'content-length', String(Buffer.byteLength(body))];
    response.writeHead(503, [...HEADERS, ...ofThisOne]).end(body);
  }

  private leave(request: FastifyRequest): void {
    if (request.isInProgress !== true) return;
    request.isInProgress = false;
    this.inProgress -= 1;
    this.freePlace(request);
  }
}
