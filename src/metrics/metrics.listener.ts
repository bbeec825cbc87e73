// Serves the metrics at a separate address, which clients do not reach.
import { createServer } from 'node:http';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { VARIABLES } from '../config/environment.js';
import type { Startup } from '../config/startup.js';
import { NOT_FOUND } from '../platform/http/http-messages.js';
import type { ListenAddress } from '../platform/http/listen-error.js';
import { listenError, METRICS_ADDRESS } from '../platform/http/listen-error.js';
import type { Log } from '../platform/log/log.js';
import type { Metrics } from './metrics.js';

/** The address of the metrics. */
interface MetricsAddress extends ListenAddress {
  /** Whether the operator has set the port: then the service does not start without it. */
  readonly isChosen: boolean;
}

/** Undefined if metrics are not served. */
export function metricsAddress({
  config,
  given,
}: Pick<Startup, 'config' | 'given'>): MetricsAddress | undefined {
  const { metricsHost: host, metricsPort: port } = config;
  return port === 0 ? undefined : { host, port, isChosen: given.has(VARIABLES.metricsPort.name) };
}

const SLOW_CLIENT_MS = 30_000;
/** How long a connection may be silent while a collector should read its response. */
const SILENT_CLIENT_MS = 60_000;

/**
 * Starts with the application. Ends after the application has answered its last request, so that the stop can
 * be monitored.
 */
export class MetricsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly server: FastifyInstance;
  private listensAt: string | undefined;

  constructor(
    { registry }: Metrics,
    private readonly at: MetricsAddress,
    private readonly logger: Log,
  ) {
    this.server = fastify({
      logger: false,
      serverFactory: (handler) =>
        createServer({ requestTimeout: SLOW_CLIENT_MS }, handler).setTimeout(SILENT_CLIENT_MS),
      // Collectors keep their connections open.
      forceCloseConnections: true,
    });
    this.server.get('/metrics', async (_request, reply) =>
      reply
        .type(registry.contentType)
        .header('cache-control', 'no-store')
        .send(await registry.metrics()),
    );
    // Fastify's own response would echo the path.
    this.server.setNotFoundHandler((_request, reply) => reply.status(404).send(NOT_FOUND));
  }

  /**
   * Such as `http://127.0.0.1:9464`; undefined before the application has started, and if another process
   * uses the port.
   */
  get address(): string | undefined {
    return this.listensAt;
  }

  /** @throws StartError, unless another process uses the default port */
  async onApplicationBootstrap(): Promise<void> {
    const { host, port, isChosen } = this.at;
    try {
      this.listensAt = await this.server.listen({ host, port });
    } catch (cause) {
      const error = listenError(cause, this.at, METRICS_ADDRESS);
      if (isChosen || (cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      this.logger.warn({ reason: error.message }, 'metrics are not served: another process uses the port');
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server.close();
  }
}
