// How the HTTP server leaves: what has arrived is answered, and no client can hold it up.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as lookedAtNetwork, setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** A request that is on its way has so long to arrive; then connections without a whole one are cut. */
const ARRIVAL_MS = 1_000;
/** So long an answer may take; then every connection is cut. */
const ANSWERS_MS = 3_500;
const LOOK_MS = 10;

/**
 * Two steps: from `begin` on the service asks for no more traffic and answers what comes all the same, and `finish` ends
 * that. Between them load balancers have time to hear of it.
 */
export class Departure {
  private readonly connections = new Set<Socket>();
  /** The request that each connection is served for. */
  private readonly requests = new Map<Socket, IncomingMessage>();
  private server: FastifyInstance | undefined;
  private hasBegun = false;
  private isLettingGo = false;

  /** Whether the service is about to stop: then it is not ready for traffic. */
  get isUnderWay(): boolean {
    return this.hasBegun;
  }

  /** Whether answers are to end their connections. */
  get endsConnections(): boolean {
    return this.isLettingGo;
  }

  /** Is told of all connections and requests of a server, before it listens. */
  watch(server: FastifyInstance): void {
    this.server = server;
    server.server.on('connection', (socket: Socket) => this.keep(socket));
    server.addHook('onRequest', ({ raw }, _reply, done) => {
      // The connection of TLS is another object than that which it came by.
      this.keep(raw.socket);
      this.requests.set(raw.socket, raw);
      done();
    });
    server.addHook('onResponse', ({ raw }, _reply, done) => {
      // A client may have sent the next one before the answer to this.
      if (this.requests.get(raw.socket) === raw) this.requests.delete(raw.socket);
      done();
    });
  }

  /** From now on each answer ends its connection, so that clients look for another instance. */
  begin(): void {
    this.hasBegun = true;
    this.letGo();
  }

  /** The same, where other processes of the instance go on and it is as ready as it was. */
  letGo(): void {
    this.isLettingGo = true;
  }

  /** Stops listening, answers whatever arrives whole, and ends all connections within three and a half seconds. */
  async finish(): Promise<void> {
    this.letGo();
    const beganAtMs = performance.now();
    // Connections that wait to be taken are lost with the listener. Right after a look at the network there are none.
    await lookedAtNetwork();
    this.server?.server.close();
    const closed = this.server?.close();
    while (this.connections.size > 0) {
      this.server?.server.closeIdleConnections();
      this.cut(performance.now() - beganAtMs);
      await pause(LOOK_MS);
    }
    await closed;
  }

  private keep(socket: Socket): void {
    if (this.connections.has(socket)) return;
    this.connections.add(socket);
    socket.once('close', () => {
      this.connections.delete(socket);
      this.requests.delete(socket);
    });
  }

  private cut(passedMs: number): void {
    for (const socket of this.connections) {
      if (passedMs >= ANSWERS_MS || (passedMs >= ARRIVAL_MS && !this.isServed(socket))) socket.destroy();
    }
  }

  /** Below the connection of TLS lies one that has no request of its own, and the same other end. */
  private isServed(socket: Socket): boolean {
    for (const [served, { complete }] of this.requests)
      if (complete && (served === socket || served.remotePort === socket.remotePort)) return true;
    return false;
  }
}
