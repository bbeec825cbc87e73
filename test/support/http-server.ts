// The HTTP server of the service without the service: limits that no test reaches, unless it brings its own.
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { ConcurrencyLimit } from '../../src/platform/http/concurrency-limit.js';
import { GracefulShutdown, UnfinishedRequests } from '../../src/platform/http/connections.js';
import type { ServerParts } from '../../src/platform/http/server.js';
import { createAdapter, prepareServer } from '../../src/platform/http/server.js';
import { RequestTraces } from '../../src/platform/log/logger.js';

export function preparedAdapter(own: Partial<ServerParts> = {}): FastifyAdapter {
  const logger = pino({ level: 'silent' });
  const ignore = () => undefined;
  const adapter = createAdapter({ proxyHops: 0, logger, keepAliveSeconds: 72 });
  prepareServer(adapter, {
    logger,
    traces: new RequestTraces(),
    shutdown: new GracefulShutdown(),
    concurrency: new ConcurrencyLimit(1_800, logger, ignore),
    unfinished: new UnfinishedRequests(logger, ignore),
    isAbsent: () => false,
    recordedRoutes: new Set(),
    ...own,
  });
  return adapter;
}
