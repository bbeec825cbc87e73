// Closes client connections: above the limit, with too many pipelined requests, with unfinished requests that
// use too much memory, and when the server stops.
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { Socket } from 'node:net';
import { setImmediate as lookedAtNetwork } from 'node:timers/promises';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../log/log.js';
import { RareWarning } from '../log/log.js';

/**
 * Higher than the limit of requests in progress, so that health checks still get connections. With this many,
 * a process of 512 MiB survives the attacks of `long/hostile-connections`.
 */
const MAX_CONNECTIONS = 4_096;

/**
 * @rule B.connections Connections above `MAX_CONNECTIONS` are counted and closed without a response, which
 * would use the resources that the limit protects. Open connections stay open.
 * @param onRefused called for each closed connection, for a metric
 */
export function limitConnections(server: Server, logger: Pick<Log, 'warn'>, onRefused: () => void): void {
  const warning = new RareWarning(logger, 'connections are closed: clients hold more than a process accepts');
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => {
    onRefused();
    warning.happened();
  });
}

/** How many requests a connection may send before their responses. */
const MAX_UNANSWERED = 16;
const UNANSWERED = Symbol('how many requests of a connection have no answer yet');

/** A socket with Node.js's parser, which is undocumented. */
type CountedSocket = Socket & { [UNANSWERED]?: number; parser?: { onIncoming: unknown } | null };

/**
 * Limits pipelining. Node.js starts all requests that arrive on a connection, and keeps the responses that
 * its client does not read. The attack: 20 connections with 2,000 requests each, whose responses nobody reads
 * (`e2e/unread-answers`). A connection with more than sixteen unanswered requests is closed (D124).
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  return (request, response) => {
    const socket: CountedSocket = request.socket;
    const unanswered = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = unanswered;
    if (unanswered <= MAX_UNANSWERED) {
      response.once('close', () => (socket[UNANSWERED] = (socket[UNANSWERED] ?? 0) - 1));
      return handler(request, response);
    }
    socket.destroy();
    // Otherwise the parser would create and keep a request and a response for each request that it has
    // already read.
    if (socket.parser) socket.parser.onIncoming = () => 0;
  };
}

const MAX_KEPT_BYTES = 64 * 1024 * 1024;
/** What Node.js and Fastify allocate for any request. */
const REQUEST_BYTES = 16 * 1024;
/** Added to the length of each header name, each header value and each chunk of a body. */
const PIECE_BYTES = 128;
/** Incomplete headers have a known length only. This number of lines is the most expensive case. */
const MAX_LINES = 100;
const SHORTEST_LINE_BYTES = 8;
/** How often connections with incomplete headers are checked. Node.js emits no event for them. */
const LOOK_MS = 250;

/** A request with complete headers, or a connection with incomplete ones. */
type Unfinished = IncomingMessage | Socket;

/**
 * Estimates the memory of each unfinished request from its first byte on. The attack: as many connections as
 * allowed, each with an endless body up to the limit (`long/hostile-connections`). Headers alone need no such
 * limit.
 * @rule B.unfinished If unfinished requests use more than 64 MiB together, the connections of the oldest are
 * closed.
 */
export class UnfinishedRequests {
  /** Estimated bytes per request; oldest first. */
  private readonly kept = new Map<Unfinished, number>();
  /** Idle connections, each with `bytesRead` at the end of its last request. */
  private readonly between = new Map<Socket, number>();
  /** The last request of each connection: the end of an earlier one may be reported after its beginning. */
  private readonly last = new WeakMap<Socket, IncomingMessage>();
  private totalBytes = 0;
  private readonly warning: RareWarning;

  /**
   * @param onClosed called for each closed connection, for a metric
   * @param mostBytes how much all unfinished requests may use together
   */
  constructor(
    logger: Pick<Log, 'warn'>,
    private readonly onClosed: () => void,
    private readonly mostBytes = MAX_KEPT_BYTES,
  ) {
    this.warning = new RareWarning(
      logger,
      'connections are closed: their unfinished requests use too much memory',
    );
  }

  /** The number of unfinished requests. */
  get count(): number {
    return this.kept.size;
  }

  /** Call it before the server listens. @param bodyLimitBytes larger bodies are not kept */
  watch(server: FastifyInstance, bodyLimitBytes: number): void {
    this.watchConnections(server.server);
    server.addHook('preParsing', ({ raw }, _reply, payload, done) => {
      this.countBody(raw, bodyLimitBytes);
      done(null, payload);
    });
  }

  /** The handler that Node.js calls for each request, before Fastify's. */
  wrap(handler: RequestListener): RequestListener {
    return (request, response) => {
      const { socket, headers, rawHeaders } = request;
      this.drop(socket);
      this.last.set(socket, request);
      this.between.set(socket, socket.bytesRead);
      if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
        this.between.delete(socket);
        this.keep(
          request,
          rawHeaders.reduce((sum, { length }) => sum + PIECE_BYTES + length, REQUEST_BYTES),
        );
        request.once('end', () => this.finish(request)).once('close', () => this.drop(request));
      }
      handler(request, response);
    };
  }

  private watchConnections(server: Server): void {
    const look = setInterval(() => this.lookAtHeaders(), LOOK_MS).unref();
    server.on('close', () => clearInterval(look));
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.between.set(socket, 0);
      socket.once('close', () => {
        this.drop(socket);
        this.between.delete(socket);
      });
    });
  }

  private lookAtHeaders(): void {
    for (const [socket, before] of this.between) {
      const bytes = socket.bytesRead - before;
      const lines = Math.min(bytes / SHORTEST_LINE_BYTES, MAX_LINES);
      if (bytes > 0) this.keep(socket, REQUEST_BYTES + bytes + 2 * PIECE_BYTES * lines);
    }
  }

  private countBody(request: IncomingMessage, limitBytes: number): void {
    const withoutBody = this.kept.get(request);
    if (withoutBody === undefined) return;
    let length = 0;
    let pieces = 0;
    request.on('data', (piece: Buffer) => {
      length += piece.length;
      pieces += 1;
      const bodyBytes = length > limitBytes ? 0 : length + PIECE_BYTES * pieces;
      if (this.kept.has(request)) this.keep(request, withoutBody + bodyBytes);
    });
  }

  private keep(unfinished: Unfinished, bytes: number): void {
    this.totalBytes += bytes - (this.kept.get(unfinished) ?? 0);
    this.kept.set(unfinished, bytes);
    for (const oldest of this.kept.keys()) {
      if (this.totalBytes <= this.mostBytes) return;
      this.close(oldest);
    }
  }

  private close(oldest: Unfinished): void {
    const socket = oldest instanceof Socket ? oldest : oldest.socket;
    this.drop(oldest);
    this.between.delete(socket);
    socket.destroy();
    this.onClosed();
    this.warning.happened();
  }

  private finish(request: IncomingMessage): void {
    const { socket } = request;
    this.drop(request);
    if (!socket.destroyed && this.last.get(socket) === request) this.between.set(socket, socket.bytesRead);
  }

  private drop(unfinished: Unfinished): void {
    this.totalBytes -= this.kept.get(unfinished) ?? 0;
    this.kept.delete(unfinished);
  }
}

/** How long requests may take to arrive and to be answered; then every connection is closed. */
const ANSWERS_MS = 3_500;

/**
 * Stops the HTTP server: requests that have arrived are answered, and no client can delay the end. main.ts
 * handles the signals.
 *
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
