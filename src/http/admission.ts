// How many requests the process works for at one time: one more is sent away before it costs anything.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { TemporarilyUnavailableException } from '../token-exchange/http/temporarily-unavailable.exception.js';
import { PROBES } from './probes.js';
import { RareWarning } from './rare-warning.js';

const MESSAGE = 'The service has as many requests in progress as it takes; send it again later';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is among those in progress. */
    isAdmitted?: boolean;
  }
}

/**
 * The guard before all others. What waits in a queue is answered late, and what is answered late was often given up by
 * then: so work in progress has a bound, and time of answers with it. A request counts once it has arrived whole, so that slow
 * clients take nobody's place, until it has its answer, be its client there or not.
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
    this.warning = new RareWarning(
      logger,
      'requests are answered 503: there are as many in progress as SVC_MAX_REQUESTS_IN_PROGRESS allows',
    );
  }

  /** How many are worked for at this moment. */
  get count(): number {
    return this.inProgress;
  }

  /** Is told of all answers of a server. */
  watch(server: FastifyInstance): void {
    server.decorateRequest('isAdmitted', false);
    server.addHook('onSend', (request, _reply, payload, done) => {
      this.leave(request);
      done(null, payload);
    });
  }

  /** @throws TemporarilyUnavailableException which each route's own filter puts into its words */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (PROBES.has(request.routeOptions.url ?? '')) return true;
    if (this.inProgress >= this.most) {
      this.onShed();
      this.warning.happened();
      throw new TemporarilyUnavailableException(MESSAGE);
    }
    this.inProgress += 1;
    request.isAdmitted = true;
    return true;
  }

  private leave(request: FastifyRequest): void {
    if (request.isAdmitted !== true) return;
    request.isAdmitted = false;
    this.inProgress -= 1;
  }
}
