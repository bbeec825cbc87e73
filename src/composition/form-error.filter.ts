// Answers a request of a flow whose body Fastify cannot read: no guard and no filter of its route is asked then.
import type { ArgumentsHost } from '@nestjs/common';
import { Catch, HttpException } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { TOO_LARGE_MESSAGE } from '../platform/http/content-type.js';
import type { DatabaseOutages } from '../platform/http/database-outages.js';
import { ErrorFilter } from '../platform/http/error.filter.js';
import { FlowRefusal, refusalOfLabel } from '../token-exchange/instance.js';
import type { FlowErrors } from '../token-exchange/instance.js';
import type { Route } from './routes.js';
import { FLOW_ENDPOINTS } from './routes.js';

/** In the words of the endpoint. Nest makes an HttpException of what Fastify refuses. */
@Catch(HttpException)
export class FormErrorFilter extends ErrorFilter {
  constructor(
    logger: Logger,
    outages: DatabaseOutages,
    private readonly flows: FlowErrors,
    private readonly isAbsent: (route: Route) => boolean,
  ) {
    super(logger, outages);
  }

  override async catch(error: HttpException, host: ArgumentsHost): Promise<void> {
    const { routeOptions, method, headers } = host.switchToHttp().getRequest<FastifyRequest>();
    const { url: path = '' } = routeOptions;
    const endpoint = FLOW_ENDPOINTS.get(path);
    if (endpoint === undefined) return super.catch(error, host);
    const refusal = this.isAbsent({ path, method })
      ? new FlowRefusal('not_available', 'Not found')
      : refusalOf(error, headers);
    this.flows.answer(endpoint, refusal, host);
  }
}

/** What is not too large is mostly no form at all. */
function refusalOf(error: HttpException, headers: FastifyRequest['headers']): FlowRefusal {
  if (error.getStatus() === 413) return new FlowRefusal('payload_too_large', TOO_LARGE_MESSAGE);
  return refusalOfLabel(headers) ?? new FlowRefusal('field_invalid', 'the form cannot be read');
}
