// Receivers of audit events: a webhook and a syslog server, which a test can stop and start.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from './jwks-server.js';

/** An event as a sink got it. */
export interface ArrivedEvent {
  id: string;
  name: string;
  occurredAt: string;
  requestId: string;
  subjectUserId: string | null;
  actorUserId: string | null;
  payload: Record<string, unknown>;
}

abstract class Receiver {
  /** Everything that was taken, in the order of arrival, repeated events too. */
  readonly arrived: ArrivedEvent[] = [];
  protected port = 0;

  /** The ids in the order in which each came first. */
  get firstArrivals(): string[] {
    return [...new Set(this.arrived.map(({ id }) => id))];
  }

  private server: Server | undefined;

  protected abstract newServer(): Server;
  abstract breakConnections(): void;

  /** Listens again on the same port. */
  async comeBack(): Promise<void> {
    this.server = this.newServer().listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Breaks all connections and discards unread data. */
  async die(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    server.close();
    this.breakConnections();
    await once(server, 'close');
  }
}

/** An answer of a webhook instead of 204. */
export type WebhookAnswer = (response: ServerResponse, request: IncomingMessage) => unknown;

export class WebhookReceiver extends Receiver {
  requests = 0;
  lastHeaders: IncomingMessage['headers'] = {};
  /** The delay before the receiver answers. */
  answersAfterMs = (): number => 0;
  private answer: WebhookAnswer | undefined;
  private readonly http = createHttpServer((request, response) => void this.receive(request, response));

  private constructor(private readonly secret: string) {
    super();
  }

  static async listen(secret: string): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(secret);
    await receiver.comeBack();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/audit`;
  }

  /** Refuses everything with this answer from now on; without one, accepts everything again. */
  answerWith(answer: WebhookAnswer | undefined): void {
    this.answer = answer;
  }

  protected newServer(): Server {
    return this.http;
  }

  breakConnections(): void {
    this.http.closeAllConnections();
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    this.lastHeaders = request.headers;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The sender was gone before it had said all: nothing is taken.
      return;
    }
    if (this.answer !== undefined) return void this.answer(response, request);
    const body = Buffer.concat(chunks);
    if (!isSigned(body, String(request.headers['x-audit-signature']), this.secret))
      return void response.writeHead(401).end();
    this.arrived.push(...(JSON.parse(body.toString()) as { events: ArrivedEvent[] }).events);
    setTimeout(() => response.writeHead(204).end(), this.answersAfterMs());
  }
}

/** Checks a post as docs/reference/audit-streams.md says. */
function isSigned(body: Buffer, header: string, secret: string): boolean {
  const parts = header.split(',').map((part) => part.split('=') as [string, string]);
  const time = parts.find(([name]) => name === 't')?.[1];
  if (time === undefined || Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, hex]) => Buffer.from(hex, 'hex'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

export class SyslogReceiver extends Receiver {
  /** Whole messages, without the count before each. */
  readonly messages: string[] = [];
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly identity: Identity | undefined) {
    super();
  }

  /** Listens with TLS under the name localhost if it gets an identity. */
  static async listen(identity?: Identity): Promise<SyslogReceiver> {
    const receiver = new SyslogReceiver(identity);
    await receiver.comeBack();
    return receiver;
  }

  get url(): string {
    return this.identity === undefined ? `tcp://127.0.0.1:${this.port}` : `tls://localhost:${this.port}`;
  }

  protected newServer(): Server {
    const receive = (socket: Socket) => this.receive(socket);
    return this.identity === undefined ? createServer(receive) : createTlsServer(this.identity, receive);
  }

  breakConnections(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Closes the connections cleanly, like a proxy that closes idle ones. */
  endConnections(): void {
    for (const socket of this.sockets) socket.end();
  }

  private receive(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    let unread = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => (unread = this.take(Buffer.concat([unread, chunk]))));
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
  }

  /** @returns the bytes after the last complete message */
  private take(bytes: Buffer): Buffer<ArrayBuffer> {
    let rest = bytes;
    for (;;) {
      const [count] = /^\d+ /.exec(rest.subarray(0, 12).toString('latin1')) ?? [];
      if (count === undefined) {
        if (rest.length >= 12) throw new Error('a frame does not begin with the number of its octets');
        return Buffer.from(rest);
      }
      const end = count.length + Number(count);
      if (rest.length < end) return Buffer.from(rest);
      this.takeMessage(rest.subarray(count.length, end).toString());
      rest = rest.subarray(end);
    }
  }

  private takeMessage(message: string): void {
    this.messages.push(message);
    this.arrived.push(JSON.parse(message.slice(message.indexOf('{'))) as ArrivedEvent);
  }
}
