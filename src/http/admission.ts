// How many requests the process works for at one time: one more is sent away before it costs anything.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { lingerAfterAnswer } from '../token-exchange/http/lingering-close.js';
import { newRequestId } from '../token-exchange/http/request-id.js';
import { TemporarilyUnavailableException } from '../token-exchange/http/temporarily-unavailable.exception.js';
import { COMMON_HEADERS, UNFRAMED_HEADERS } from './common-headers.js';
import type { Departure } from './departure.js';
import { PROBES } from './probes.js';
import { RareWarning } from './rare-warning.js';

const STATUS = 503;
/** Since there were as many as there may be, so long only half as many are let in. */
const CROWDED_MS = 1_000;
/** In seconds; as all that is temporarily unavailable says. */
const RETRY_AFTER_SECONDS = '5';
/** A login that asks for its answer as a page gets one, from its own filter. */
const ASKS_FOR_PAGE = /[?&]answer=page\b/;
const MESSAGE = 'The service has as many requests in progress as it takes; send it again later';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is among those in progress. */
    isAdmitted?: boolean;
  }
}

/**
 * The door and the guard before all others. What waits in a queue is answered late, and what is answered late was often given up by
 * then: so work in progress has a bound, and time of answers with it. A request counts once it has arrived whole, so that slow
 * clients take nobody's place, until it has its answer, be its client there or not. While there are too many, others are sent
 * away by their headers, before Fastify: to read, route and judge them would take a third of what it takes to answer them, and Node.js
 * takes one new connection each time it has served all that are ready, so that those would wait for seconds.
 * Of a burst as many are taken as may be, and then for a second half as many: in a rush that goes on the processor is as busy with those, and
 * each is answered in half the time.
 * @rule D102 A request over the bound gets 503 with `Retry-After` at once; nothing is used up for it. Health and metrics
 * are always answered.
 */
export class Admission implements CanActivate {
  private readonly warning: RareWarning;
  private readonly mostWhileCrowded: number;
  private inProgress = 0;
  private crowdedUntilMs = 0;

  /**
   * @param most 1 or more
   * @param onShed called for each that is sent away; for a metric
   */
  constructor(
    private readonly most: number,
    private readonly logger: Pick<Logger, 'warn' | 'debug'>,
    private readonly onShed: () => void,
  ) {
    this.mostWhileCrowded = Math.ceil(most / 2);
    this.warning = new RareWarning((count) =>
      logger.warn(
        { count },
        'requests are answered 503: there are as many in progress as SVC_MAX_REQUESTS_IN_PROGRESS allows, or were within a second, and are half as many',
      ),
    );
  }

  /** How many are worked for at this moment. */
  get count(): number {
    return this.inProgress;
  }

  private get isFull(): boolean {
    if (this.inProgress < this.mostWhileCrowded) return false;
    return this.inProgress >= this.most || performance.now() < this.crowdedUntilMs;
  }

  /**
   * Is told of all requests and answers of a server, before it listens.
   * @param departure tells whether answers are to end their connections
   */
  watch(server: FastifyInstance, departure?: Departure): void {
    server.decorateRequest('isAdmitted', false);
    server.addHook('onSend', (request, _reply, payload, done) => {
      this.leave(request);
      done(null, payload);
    });
    this.standBefore(server, departure);
  }

  /** Of a server that listens to `localhost`, Fastify makes another for its other address: there the guard alone stands. */
  private standBefore({ server }: FastifyInstance, departure?: Departure): void {
    const listeners = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.isFull && mayBeSentAway(request))
        return this.sendAway(request, response, departure?.endsConnections === true);
      for (const listener of listeners) listener.call(server, request, response);
    });
  }

  /** In the words of all endpoints. What is left of the request, Node.js reads and forgets. */
  private sendAway(request: IncomingMessage, response: ServerResponse, isLast: boolean): void {
    this.count503();
    if (isLast) lingerAfterAnswer(request);
    const requestId = newRequestId(request);
    const body = JSON.stringify({
      error: 'temporarily_unavailable',
      error_description: MESSAGE,
      message: MESSAGE,
      requestId,
    });
    this.logger.debug({ requestId, method: request.method, route: null, status: STATUS }, 'request');
    response.writeHead(STATUS, {
      'x-request-id': requestId,
      ...COMMON_HEADERS,
      ...UNFRAMED_HEADERS,
      'retry-after': RETRY_AFTER_SECONDS,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      ...(isLast ? { connection: 'close' } : {}),
    });
    response.end(body);
  }

  /** Of those whose bodies were under way there may be too many by now. @throws TemporarilyUnavailableException which each route's own filter puts into its words */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (this.isExempt(request)) return true;
    if (this.isFull) {
      this.count503();
      throw new TemporarilyUnavailableException(MESSAGE);
    }
    this.inProgress += 1;
    request.isAdmitted = true;
    return true;
  }

  private isExempt({ routeOptions }: FastifyRequest): boolean {
    return PROBES.has(routeOptions.url ?? '');
  }

  private count503(): void {
    // Not at the half: what halves the bound would go on by itself, though there is room for what comes.
    if (this.inProgress >= this.most) this.crowdedUntilMs = performance.now() + CROWDED_MS;
    this.onShed();
    this.warning.happened();
  }

  private leave(request: FastifyRequest): void {
    if (request.isAdmitted !== true) return;
    request.isAdmitted = false;
    this.inProgress -= 1;
  }
}

/** By the address, since no route is known yet. */
function mayBeSentAway({ url = '' }: IncomingMessage): boolean {
  return !PROBES.has(url.split('?', 1)[0] ?? '') && !ASKS_FOR_PAGE.test(url);
}
