// Answers a request of a flow whose body Fastify cannot read: no guard and no filter of its route is asked then.
import type { ArgumentsHost } from '@nestjs/common';
import { Catch, HttpException, Inject, Optional } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { TOO_LARGE_MESSAGE } from '../platform/http/content-type.js';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import { ErrorFilter } from '../platform/http/error.filter.js';
import { LOGGER } from '../platform/log/log.js';
import { FlowErrors, FlowRefusal, refusalOfLabel } from '../token-exchange/instance.js';
import { PresentEntries } from './present-entries.js';
import { FLOW_ENDPOINTS, isAbsent } from './routes.js';

/** In the words of the endpoint. Nest makes an HttpException of what Fastify refuses. */
@Catch(HttpException)
export class FormErrorFilter extends ErrorFilter {
  /** @param flows undefined where token exchange is off: then there is no route of it */
  constructor(
    @Inject(LOGGER) logger: Logger,
    outages: DatabaseOutages,
    @Inject(STARTUP) private readonly startup: Startup,
    private readonly clock: Clock,
    private readonly entries: PresentEntries,
    @Optional() private readonly flows?: FlowErrors,
  ) {
    super(logger, outages);
  }

  override async catch(error: HttpException, host: ArgumentsHost): Promise<void> {
    const { routeOptions, method, headers } = host.switchToHttp().getRequest<FastifyRequest>();
    const { url: path = '' } = routeOptions;
    const { startup, clock, entries, flows } = this;
    const endpoint = FLOW_ENDPOINTS.get(path);
    if (endpoint === undefined || flows === undefined) return super.catch(error, host);
    const refusal = isAbsent({ path, method }, { startup, clock, entries })
      ? new FlowRefusal('not_available', 'Not found')
      : refusalOf(error, headers);
    flows.answer(endpoint, refusal, host);
  }
}

/** What is not too large is mostly no form at all. */
function refusalOf(error: HttpException, headers: FastifyRequest['headers']): FlowRefusal {
  if (error.getStatus() === 413) return new FlowRefusal('payload_too_large', TOO_LARGE_MESSAGE);
  return refusalOfLabel(headers) ?? new FlowRefusal('field_invalid', 'the form cannot be read');
}
