// Stops the HTTP server: requests that have arrived are answered, and no client can delay the end. main.ts
// handles the signals.
import type { Socket } from 'node:net';
import { setImmediate as lookedAtNetwork } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** How long requests may take to arrive and to be answered; then every connection is closed. */
const ANSWERS_MS = 3_500;

/**
 * Stops in two steps. After `begin` the service reports that it is not ready, but still answers requests.
 * `finish` ends this. The time between them lets load balancers react.
 */
export class GracefulShutdown {
  private readonly connections = new Set<Socket>();
  /** Whether the service is stopping: it is not ready, and responses close their connections. */
  isUnderWay = false;
  private server: FastifyInstance | undefined;

  /** Tracks a server's connections, even during the TLS handshake. Call it before the server listens. */
  watch(server: FastifyInstance): void {
    this.server = server;
    server.server.on('connection', (socket: Socket) => {
      this.connections.add(socket);
      socket.once('close', () => this.connections.delete(socket));
    });
  }

  /** From now on each response closes its connection, so that clients find another instance. */
  begin(): void {
    this.isUnderWay = true;
  }

  /**
   * Stops listening, closes idle connections, answers requests on others, and closes them all after 3.5
   * seconds.
   */
  async finish(): Promise<void> {
    this.begin();
    // Closing the listener drops connections that wait to be accepted. Right after polling the network there
    // are none.
    await lookedAtNetwork();
    this.server?.server.close();
    const cut = setTimeout(() => {
      for (const socket of this.connections) socket.destroy();
    }, ANSWERS_MS);
    await this.server?.close();
    clearTimeout(cut);
  }
}
