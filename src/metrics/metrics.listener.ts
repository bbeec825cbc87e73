// Serves the metrics at an address of their own, apart from what clients reach.
import { createServer } from 'node:http';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { limitPipelining } from '../platform/http/connection-limit.js';
import { NOT_FOUND } from '../platform/http/answers.js';
import type { Metrics } from './metrics.js';

/** An address to listen on. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

const SLOW_CLIENT_MS = 30_000;
/** Without a byte either way, while a collector should take its answer. */
const SILENT_CLIENT_MS = 60_000;

/** The service cannot listen at the address of its metrics. The message says which address, and what to set. */
export class MetricsAddressError extends Error {
  constructor(cause: unknown) {
    const { code, address, port } = cause as NodeJS.ErrnoException & { address?: string; port?: number };
    const reason = code === 'EADDRINUSE' ? 'another process listens' : `listening is not possible (${code})`;
    super(
      `Metrics: ${reason} on ${address} port ${port}. Set SVC_METRICS_PORT, or SVC_METRICS_HOST, to another.`,
    );
    this.name = 'MetricsAddressError';
  }
}

/** Begins with the application; ends after it has answered its last request, so that a stop can be watched. */
export class MetricsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly server: FastifyInstance;
  private listensAt: string | undefined;

  constructor(
    metrics: Metrics,
    private readonly at: MetricsAddress,
  ) {
    this.server = fastify({
      logger: false,
      serverFactory: (handler) =>
        createServer({ requestTimeout: SLOW_CLIENT_MS }, limitPipelining(handler)).setTimeout(
          SILENT_CLIENT_MS,
        ),
      // A collector keeps its connection open.
      forceCloseConnections: true,
    });
    this.server.get('/metrics', async (_request, reply) => {
      const text = await metrics.sharedText();
      return reply.type(metrics.registry.contentType).header('cache-control', 'no-store').send(text);
    });
    // Fastify's own answer would echo the path.
    this.server.setNotFoundHandler((_request, reply) => reply.status(404).send(NOT_FOUND));
  }

  /** Such as `http://127.0.0.1:9464`; undefined before the application has begun. */
  get address(): string | undefined {
    return this.listensAt;
  }

  /** @throws MetricsAddressError */
  async onApplicationBootstrap(): Promise<void> {
    try {
      this.listensAt = await this.server.listen({ ...this.at });
    } catch (error) {
      throw new MetricsAddressError(error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server.close();
  }
}
