// A network between a client and a server that can break or go silent: connections stay open and nothing passes any more.
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A listening address that leads to a server. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private silent = false;
  private losesAnswers = false;
  private lostQuestion: string | undefined;

  private constructor(
    private readonly server: Server,
    /** The server's URL with the proxy's address in it. */
    readonly url: string,
  ) {}

  static async open(serverUrl: string): Promise<TcpProxy> {
    const target = new URL(serverUrl);
    const server = createServer({ pauseOnConnect: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(serverUrl);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const proxy = new TcpProxy(server, url.href);
    server.on('connection', (client) => proxy.join(client, connect(Number(target.port), target.hostname)));
    return proxy;
  }

  /** Packets are dropped from now on, both ways, goodbyes too; new connections are taken and never answered. */
  silence(): void {
    this.silent = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Breaks every connection. New ones are passed through. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Drops the server's answers and their connections from now on. The server still executes the requests. */
  loseAnswers(): void {
    this.losesAnswers = true;
  }

  /** Does the same as `loseAnswers`, but begins with a question that contains this text. */
  loseAnswersTo(question: string): void {
    this.lostQuestion = question;
  }

  /** Restores the network. Data sent in the meantime arrives. */
  resume(): void {
    this.silent = false;
    this.losesAnswers = false;
    this.lostQuestion = undefined;
    for (const socket of this.sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.server, 'close');
  }

  private join(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (bytes) => {
        if (from === client && this.lostQuestion !== undefined && bytes.includes(this.lostQuestion))
          this.loseAnswers();
        if (from !== server || !this.losesAnswers) return to.write(bytes);
        client.destroy();
        return server.destroy();
      });
      // A paused socket reads no end either: that too waits until the network is back.
      from.on('end', () => to.end());
      from.on('close', () => this.sockets.delete(from));
      from.on('error', () => to.destroy());
      if (this.silent) from.pause();
      else from.resume();
    }
  }
}
