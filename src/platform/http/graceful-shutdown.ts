// How the HTTP server stops: what has arrived is answered, and no client can hold it up. main.ts listens for the signals.
import type { Socket } from 'node:net';
import { setImmediate as lookedAtNetwork } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** So long requests may take to arrive and to be answered; then every connection is cut. */
const ANSWERS_MS = 3_500;

/**
 * Two steps: from `begin` on the service asks for no more traffic and answers what comes all the same, and `finish` ends
 * that. Between them load balancers have time to hear of it.
 */
export class GracefulShutdown {
  private readonly connections = new Set<Socket>();
  private server: FastifyInstance | undefined;
  private hasBegun = false;

  /** Whether the service is about to stop: then it is not ready for traffic, and answers end their connections. */
  get isUnderWay(): boolean {
    return this.hasBegun;
  }

  /** Counts the connections of a server, also those that a TLS handshake is under way on; to be called before it listens. */
  watch(server: FastifyInstance): void {
    this.server = server;
    server.server.on('connection', (socket: Socket) => {
      this.connections.add(socket);
      socket.once('close', () => this.connections.delete(socket));
    });
  }

  /** From now on each answer ends its connection, so that clients look for another instance. */
  begin(): void {
    this.hasBegun = true;
  }

  /** Stops listening, ends idle connections, answers what arrives on others, and cuts them after three and a half seconds. */
  async finish(): Promise<void> {
    this.begin();
    // Connections that wait to be taken are lost with the listener. Right after a look at the network there are none.
    await lookedAtNetwork();
    this.server?.server.close();
    const cut = setTimeout(() => {
      for (const socket of this.connections) socket.destroy();
    }, ANSWERS_MS);
    await this.server?.close();
    clearTimeout(cut);
  }
}
