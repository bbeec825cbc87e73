// A real HTTP(S) server that publishes a key set, well or in one of the ways in which such servers misbehave.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const TRICKLE_INTERVAL_MS = 100;
const FLOOD_CHUNK = Buffer.alloc(65_536, ' ');

type Headers = Record<string, string | string[] | undefined>;

/** The treatment of a request. */
export type JwksAnswer = (response: ServerResponse, request: IncomingMessage) => unknown;

/** A certificate and its private key, in PEM. */
export interface Identity {
  cert: string;
  key: string;
}

export class JwksServer {
  /** The number of requests so far. */
  requestCount = 0;
  /** The number of connections so far, with or without a request. */
  connectionCount = 0;
  lastRequest: IncomingMessage | undefined;
  private answer: JwksAnswer = status(404);
  private readonly path = `/${randomUUID()}/jwks.json`;

  private origin!: string;

  private constructor(private readonly server: Server) {
    server.on('connection', () => this.connectionCount++);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requestCount++;
      this.lastRequest = request;
      this.answer(response, request);
    });
  }

  /** Listens on a free port of 127.0.0.1; with an identity, by TLS and under the name localhost. */
  static async listen(identity?: Identity): Promise<JwksServer> {
    const server = new JwksServer(identity === undefined ? createServer() : createTlsServer(identity));
    await server.open(identity === undefined ? 'http://127.0.0.1' : 'https://localhost');
    return server;
  }

  /** Makes a server for all tests of a block, and for hooks that are declared later. */
  static forBlock(): JwksServer {
    const server = new JwksServer(createServer());
    beforeAll(() => server.open('http://127.0.0.1'));
    afterAll(() => server.close());
    return server;
  }

  private async open(host: string): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.origin = `${host}:${this.port}`;
  }

  /** No two servers have the same, though the system may give one the port of another that is gone. */
  get url(): string {
    return this.origin + this.path;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Treats requests in this way from now on. */
  answerWith(answer: JwksAnswer): void {
    this.answer = answer;
  }

  /** Publishes a key set; rotating means publishing another. */
  publish(keySet: object, headers: Headers = {}): void {
    this.answerWith(body(JSON.stringify(keySet), headers));
  }

  async openConnections(): Promise<number> {
    return promisify(this.server.getConnections.bind(this.server))();
  }

  /** Closes all connections, even during a request. */
  breakConnections(): void {
    this.server.closeAllConnections();
  }

  /** Stops the server at once, even during a request. */
  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

export function body(text: string | Uint8Array, headers: Headers = {}): JwksAnswer {
  return (response) => response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
}

export function status(code: number, headers: Record<string, string> = {}): JwksAnswer {
  return (response) => response.writeHead(code, headers).end('{"keys":[]}');
}

export function redirect(target: string, code = 302): JwksAnswer {
  return status(code, { location: target });
}

/** Keeps the connection open and never answers. */
export function silence(): JwksAnswer {
  return () => undefined;
}

/** The head comes, then one byte after another, without end. */
export function trickle(): JwksAnswer {
  return (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), TRICKLE_INTERVAL_MS);
    response.on('close', () => clearInterval(timer));
  };
}

/** A body of many bytes, without saying so beforehand. */
export function flood(bytes: number): JwksAnswer {
  return (response) => {
    response.writeHead(200);
    let left = bytes;
    const pour = () => {
      while (left > 0 && !response.destroyed) {
        left -= FLOOD_CHUNK.length;
        if (!response.write(FLOOD_CHUNK)) return void response.once('drain', pour);
      }
      response.end();
    };
    pour();
  };
}

/** A few bytes that unfold into many. */
export function compressionBomb(bytes: number): JwksAnswer {
  return body(gzipSync(Buffer.alloc(bytes, ' ')), { 'content-encoding': 'gzip' });
}

/** The connection ends in the middle of the answer. */
export function brokenOff(): JwksAnswer {
  return (response) => {
    response.writeHead(200, { 'content-length': '100000' });
    response.write('{"keys":[', () => response.destroy());
  };
}

export function delayed(milliseconds: number, answer: JwksAnswer): JwksAnswer {
  return (response, request) => setTimeout(() => answer(response, request), milliseconds);
}
