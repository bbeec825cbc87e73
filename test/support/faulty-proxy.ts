// A proxy in front of an instance that can answer 502, hang, cut every connection, or be away.
import { once } from 'node:events';
import type { Server as HttpsServer } from 'node:https';
import { createServer as createHttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Identity } from './jwks-server.js';

export type Fault = 'none' | 'bad-gateway' | 'hang' | 'cut' | 'away';

export class FaultyProxy {
  private fault: Fault = 'none';
  private readonly sockets = new Set<Socket>();
  private readonly gateway: HttpsServer;
  private server: Server | undefined;

  private constructor(
    identity: Identity,
    readonly port: number,
    private readonly target: number,
  ) {
    this.gateway = createHttpsServer(identity, (_, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>'),
    );
  }

  static async listen(identity: Identity, port: number, target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(identity, port, target);
    await proxy.behave('none');
    return proxy;
  }

  /** Behaves so from now on; connections of before are closed. */
  async behave(fault: Fault): Promise<void> {
    await this.close();
    this.fault = fault;
    if (fault === 'away') return;
    this.server = createServer((socket) => this.take(socket)).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  }

  private take(socket: Socket): void {
    this.keep(socket);
    if (this.fault === 'cut') socket.destroy();
    if (this.fault === 'bad-gateway') this.gateway.emit('connection', socket);
    if (this.fault !== 'none') return;
    const onward = connect(this.target, '127.0.0.1');
    this.keep(onward);
    socket.pipe(onward).pipe(socket);
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => this.sockets.delete(socket));
  }
}
