// A reverse proxy that ends TLS, leads requests to instances in turn, and can change what passes through it.
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeSelfSignedCertificate } from '../../support/self-signed-certificate.js';

/** What an instance has answered, on its way to the client. */
export interface Passing {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Rewriting {
  /** Changes the headers of a request. Those of a good proxy are already set. */
  readonly request?: (headers: IncomingHttpHeaders, received: IncomingHttpHeaders) => void;
  readonly answer?: (answer: Passing, path: string) => void;
}

export class RewritingProxy {
  private upstreams: readonly string[] = [];
  private turn = 0;
  private rewriting: Rewriting = {};

  private constructor(
    private readonly server: Server,
    readonly certificate: string,
  ) {
    server.on(
      'request',
      (received: IncomingMessage, answer: ServerResponse) => void this.lead(received, answer),
    );
  }

  static async listen(): Promise<RewritingProxy> {
    const identity = makeSelfSignedCertificate('localhost', '127.0.0.1');
    const server = createServer(identity).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new RewritingProxy(server, identity.cert);
  }

  get origin(): string {
    return `https://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** Begins anew: the next request goes to the first of the instances. */
  leadTo(upstreams: readonly string[], rewriting: Rewriting = {}): void {
    [this.upstreams, this.rewriting, this.turn] = [upstreams, rewriting, 0];
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async lead(received: IncomingMessage, response: ServerResponse): Promise<void> {
    const upstream = this.upstreams[this.turn++ % this.upstreams.length] ?? '';
    const path = received.url ?? '/';
    const { 'x-request-id': _, ...passed } = received.headers;
    const headers: IncomingHttpHeaders = {
      ...passed,
      ...{ 'x-forwarded-for': received.socket.remoteAddress, 'x-forwarded-proto': 'https' },
    };
    this.rewriting.request?.(headers, received.headers);
    const sent = request(new URL(path, upstream), { method: received.method ?? 'GET', headers });
    received.pipe(sent);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    answer.setEncoding('utf8');
    for await (const part of answer) text += part as string;
    const { 'content-length': _length, ...own } = answer.headers;
    const passing: Passing = { status: answer.statusCode ?? 0, headers: own, text };
    this.rewriting.answer?.(passing, path);
    const present = Object.entries(passing.headers).filter(([, value]) => value !== undefined);
    response.writeHead(passing.status, Object.fromEntries(present)).end(passing.text);
  }
}
