// Which connections of clients are closed: more than there may be at one time, those that send too far ahead of their answers, and those whose
// unfinished requests take too much memory.
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../log/log.js';
import { RareWarning } from '../log/log.js';

/**
 * A process has more connections than requests in progress, so that some are left for health checks. With so many a process of 512 MiB
 * lives through the attacks of `long/hostile-connections`.
 */
const MOST_CONNECTIONS = 4_096;

/**
 * @rule B.connections One connection more than `MOST_CONNECTIONS` is closed unanswered, and counted: an answer would take what is
 * to be saved. Those that are open go on.
 * @param onRefused called for each that is closed; for a metric
 */
export function limitConnections(server: Server, logger: Pick<Log, 'warn'>, onRefused: () => void): void {
  const warning = new RareWarning(
    logger,
    'connections are closed unanswered: clients hold as many as a process takes',
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.on('drop', () => {
    onRefused();
    warning.happened();
  });
}

/** Requests that one connection may send ahead of their answers. */
const MOST_UNANSWERED = 16;
const UNANSWERED = Symbol('how many requests of a connection have no answer yet');

/** With the parser of Node.js, which is not in its documentation. */
type CountedSocket = Socket & { [UNANSWERED]?: number; parser?: { onIncoming: unknown } | null };

/**
 * The handler of a server of Node.js, which works at once for everything that has arrived on a connection, and keeps the answers that its client does not
 * take. The attack: 20 connections with 2,000 requests each, whose answers nobody reads (`e2e/unread-answers`).
 * A connection with more than sixteen unanswered requests is closed (D124).
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  return (request, response) => {
    const socket: CountedSocket = request.socket;
    const unanswered = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = unanswered;
    if (unanswered <= MOST_UNANSWERED) {
      response.once('close', () => (socket[UNANSWERED] = (socket[UNANSWERED] ?? 0) - 1));
      return handler(request, response);
    }
    socket.destroy();
    // Without this it would make a request and a response of each that it has read already, and keep them.
    if (socket.parser) socket.parser.onIncoming = () => 0;
  };
}

const MOST_KEPT_BYTES = 64 * 1024 * 1024;
/** What Node.js and Fastify keep of a request, whatever is in it. */
const REQUEST_BYTES = 16 * 1024;
/** Beside its characters, of each name and each value of a header, and of each piece of a body. */
const PIECE_BYTES = 128;
/** Of headers that are not whole nothing is known but their length: that many lines would be the most expensive. */
const MOST_LINES = 100;
const SHORTEST_LINE_BYTES = 8;
/** How often connections are looked at on which headers may be under way: Node.js reports nothing of these. */
const LOOK_MS = 250;

/** A request whose headers are there, or a connection on which they are under way. */
type Unfinished = IncomingMessage | Socket;

/**
 * Counts what each unfinished request keeps, as an estimate, from its first byte on. The attack: as many connections as are allowed, each
 * with a body up to its limit and without an end (`long/hostile-connections`). Headers alone need no such limit.
 * @rule B.unfinished Where unfinished requests keep more than 64 MiB together, the connections of the oldest are closed.
 */
export class UnfinishedRequests {
  /** What each keeps, in bytes; the oldest first. */
  private readonly kept = new Map<Unfinished, number>();
  /** Connections between two requests, with what had been read of them when the last one was whole. */
  private readonly between = new Map<Socket, number>();
  /** The last request of each connection: the end of one before it may be told of later than its beginning. */
  private readonly last = new WeakMap<Socket, IncomingMessage>();
  private totalBytes = 0;
  private readonly warning: RareWarning;

  /**
   * @param onClosed called for each connection that is closed; for a metric
   * @param mostBytes that all may keep together
   */
  constructor(
    logger: Pick<Log, 'warn'>,
    private readonly onClosed: () => void,
    private readonly mostBytes = MOST_KEPT_BYTES,
  ) {
    this.warning = new RareWarning(
      logger,
      'connections are closed: their unfinished requests take too much memory',
    );
  }

  /** How many unfinished requests there are. */
  get count(): number {
    return this.kept.size;
  }

  /** Call it before the server listens. @param bodyLimitBytes of a larger body nothing is kept */
  watch(server: FastifyInstance, bodyLimitBytes: number): void {
    this.watchConnections(server.server);
    server.addHook('preParsing', ({ raw }, _reply, payload, done) => {
      this.countBody(raw, bodyLimitBytes);
      done(null, payload);
    });
  }

  /** The handler that Node.js calls for each request, in front of Fastify's. */
  standBefore(handler: RequestListener): RequestListener {
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
      const lines = Math.min(bytes / SHORTEST_LINE_BYTES, MOST_LINES);
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
