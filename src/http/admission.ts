// How many requests the process works for at one time: one more is sent away before it costs anything.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { TemporarilyUnavailableException } from '../token-exchange/http/temporarily-unavailable.exception.js';
import { PROBES } from './probes.js';
import { RareWarning } from './rare-warning.js';

/** In seconds; as all that is temporarily unavailable says. */
export const RETRY_AFTER_SECONDS = 5;
/** A login that asks for its answer as a page gets one, from its own filter. */
const ASKS_FOR_PAGE = /[?&]answer=page\b/;
const MESSAGE = 'The service has as many requests in progress as it takes; send it again later';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is among those in progress. */
    isAdmitted?: boolean;
    /** Whether it was sent away unread. */
    isShed?: boolean;
  }
}

/**
 * The hook and the guard before all others. What waits in a queue is answered late, and what is answered late was often given up by
 * then: so work in progress has a bound, and time of answers with it. A request counts once it has arrived whole, so that slow
 * clients take nobody's place, until it has its answer, be its client there or not. While there are too many, others are sent
 * away by their headers: to read, route and judge them would take a third of what it takes to answer them.
 * @rule D102 A request over the bound gets 503 with `Retry-After` at once; nothing is used up for it. Health and metrics
 * are always answered.
 */
export class Admission implements CanActivate {
  private readonly warning: RareWarning;
  private inProgress = 0;

  /**
   * @param most 1 or more
   * @param onShed called for each that is sent away; for a metric
   */
  constructor(
    private readonly most: number,
    logger: Pick<Logger, 'warn'>,
    private readonly onShed: () => void,
  ) {
    this.warning = new RareWarning((count) =>
      logger.warn(
        { count },
        'requests are answered 503: there are as many in progress as SVC_MAX_REQUESTS_IN_PROGRESS allows',
      ),
    );
  }

  /** How many are worked for at this moment. */
  get count(): number {
    return this.inProgress;
  }

  /** Is told of all answers of a server. */
  watch(server: FastifyInstance): void {
    server.decorateRequest('isAdmitted', false);
    server.decorateRequest('isShed', false);
    server.addHook('onSend', (request, _reply, payload, done) => {
      this.leave(request);
      done(null, payload);
    });
  }

  /** The body for a request that is to be sent away unread, in the words of all endpoints; undefined where it is to go on. */
  refusalOf(request: FastifyRequest): object | undefined {
    if (this.inProgress < this.most || this.isExempt(request) || ASKS_FOR_PAGE.test(request.url))
      return undefined;
    this.count503();
    request.isShed = true;
    return {
      error: 'temporarily_unavailable',
      error_description: MESSAGE,
      message: MESSAGE,
      requestId: request.id,
    };
  }

  /** Of those whose bodies were under way there may be too many by now. @throws TemporarilyUnavailableException which each route's own filter puts into its words */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (this.isExempt(request)) return true;
    if (this.inProgress >= this.most) {
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
    this.onShed();
    this.warning.happened();
  }

  private leave(request: FastifyRequest): void {
    if (request.isAdmitted !== true) return;
    request.isAdmitted = false;
    this.inProgress -= 1;
  }
}
