// The HTTP server: reads, numbers, logs and answers requests before any route.
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { parse } from 'node:querystring';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type {
  FastifyContentTypeParser,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from 'fastify';
import type { Logger } from 'pino';
import type { RequestTraces } from '../log/logger.js';
import { readTraceparent } from '../log/logger.js';
import { Tracing } from '../log/tracing.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import type { GracefulShutdown, UnfinishedRequests } from './connections.js';
import { limitPipelining } from './connections.js';
import {
  BODY_LIMIT_BYTES,
  COMMON_HEADERS,
  HEADERS_TOO_LARGE,
  idOfRequest,
  MAX_FIELDS,
  MAX_REQUEST_ID_CHARACTERS,
  TOO_LARGE,
  UNFRAMED_HEADERS,
  UNREADABLE,
} from './http-messages.js';
import { answerUnreadableRequest } from './unreadable-request.js';

/** Options of the socket and the parser, set before Nest creates anything. */
export interface ServerOptions {
  /** How many reverse proxies are trusted. */
  readonly proxyHops: number;
  readonly logger: Logger;
  /** Certificate and key in PEM; with them the server speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** How long an idle connection stays open. */
  readonly keepAliveSeconds: number;
}

/** The dependencies of the server's hooks. */
export interface ServerParts {
  readonly logger: Logger;
  /** Gives `logger` the trace of each request. */
  readonly traces: RequestTraces;
  /** Tracks connections and requests. */
  readonly shutdown: GracefulShutdown;
  /** Counts requests in progress and refuses those above its limit. */
  readonly concurrency: ConcurrencyLimit;
  /** Estimates the memory of unfinished requests, and closes the oldest if it is too much. */
  readonly unfinished: UnfinishedRequests;
  /**
   * Whether a route, given by pattern and method, currently behaves as if it did not exist: `Allow` omits it.
   */
  readonly isAbsent: (url: string, method: string) => boolean;
  /**
   * Routes whose successes are audit events, which the log contains: a second line would add 5 % to the time
   * of an exchange.
   */
  readonly recordedRoutes: ReadonlySet<string>;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly knownPaths: KnownPaths;
  }
}

/**
 * @rule B.headers Node.js's default, set explicitly: clients that only send headers cannot exhaust the
 * memory.
 */
const HEADER_LIMIT_BYTES = 16 * 1024;
/**
 * @rule B.headerCount More than any honest request sends. Above its own limit, Node.js would silently drop
 * headers.
 */
const MAX_HEADERS = 100;
/** Measured from the first byte of a request, or from the connection. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How long a connection may be silent during a request. Longer than the time limits of slow requests. */
const SILENCE_MS = 60_000;
/** How often Node.js checks for slow clients. */
const SLOW_CLIENTS_LOOK_MS = 1_000;

/**
 * Creates the Fastify adapter. `X-Forwarded-Proto` and `X-Forwarded-For` are trusted from the configured
 * number of proxies. This is one half of D27; the other is embed-login.controller.ts.
 */
export function createAdapter({ proxyHops, logger, tls, keepAliveSeconds }: ServerOptions): FastifyAdapter {
  const node = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: keepAliveSeconds * 1000,
    maxHeaderSize: HEADER_LIMIT_BYTES,
    connectionsCheckingInterval: SLOW_CLIENTS_LOOK_MS,
    // Node.js would answer without a body and a request id; `refuseUnlessOneHost` does it instead.
    requireHostHeader: false,
  };
  return new FastifyAdapter({
    serverFactory: (handler) =>
      (tls === undefined
        ? createHttpServer(node, handler)
        : createHttpsServer({ ...node, handshakeTimeout: HEADERS_TIMEOUT_MS, ...tls }, handler)
      ).setTimeout(SILENCE_MS),
    trustProxy: (_address, hop) => hop < proxyHops,
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: (request: IncomingMessage) => idOfRequest(request, proxyHops > 0),
    // Only the embed endpoint refuses HEAD, in its guard.
    exposeHeadRoutes: true,
    // The longest path parameter is a client's request id.
    routerOptions: { maxParamLength: MAX_REQUEST_ID_CHARACTERS },
    // Requests on open connections are still answered while the service stops.
    return503OnClosing: false,
    logger: false,
    frameworkErrors: answerUndecodablePath,
    clientErrorHandler: (error, socket) => answerUnreadableRequest(logger, error, socket),
  } satisfies FastifyServerOptions);
}

/** Adds the hooks in order. Call it before Nest adds routes. */
export function prepareServer(adapter: FastifyAdapter, parts: ServerParts): void {
  const { logger, traces, shutdown, concurrency, unfinished } = parts;
  const server: FastifyInstance = adapter.getInstance();
  limitRequests(server.server, parts);
  shutdown.watch(server);
  concurrency.watch(server);
  unfinished.watch(server, BODY_LIMIT_BYTES);
  traceRequests(server, traces);
  answerWithCommonHeaders(adapter);
  limitHeaders(server);
  refuseUnlessOneHost(server);
  rememberRoutes(server, new KnownPaths(parts.isAbsent));
  readBodies(server);
  logAnswers(server, logger, parts.recordedRoutes);
}

/** Runs the limits before Fastify, whose hooks take a third of the time of an exchange. */
function limitRequests(server: Server, { shutdown, concurrency, unfinished }: ServerParts): void {
  const [handler] = server.listeners('request') as RequestListener[];
  if (handler === undefined) throw new Error('the server has no handler');
  const limited = limitPipelining(unfinished.wrap(concurrency.wrap(handler)));
  const answer: RequestListener = (request, response) => {
    if (shutdown.isUnderWay) response.setHeader('connection', 'close');
    limited(request, response);
  };
  // An unknown `Expect` is ignored (RFC 9110 §10.1.1): Node.js's 417 would have no request id.
  server.off('request', handler).on('request', answer).on('checkExpectation', answer);
}

/** Health checks: log lines and spans of their requests would bury the others. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/healthz/readiness']);

/**
 * Records each request's trace for log lines and, if the operator has loaded an SDK, as a span. The span
 * includes the hooks that are added later.
 */
function traceRequests(server: FastifyInstance, traces: RequestTraces): void {
  const tracing = Tracing.registered();
  server.addHook('onRequest', (request, { raw }, done) => {
    const { id, method, headers } = request;
    const route = tracing && request.routeOptions.url;
    if (tracing !== undefined && PROBES.has(route ?? '')) return done();
    const span = tracing?.beginRequest(method, route, headers);
    const ids = span === undefined ? readTraceparent(headers.traceparent) : span.ids;
    if (span === undefined && ids === undefined) return done();
    if (ids !== undefined) traces.begin(id, ids);
    // Emitted in every case, even if the client has disconnected.
    raw.once('close', () => {
      if (ids !== undefined) traces.end(id, ids);
      span?.end(raw.writableFinished ? raw.statusCode : undefined);
    });
    if (span === undefined) done();
    else span.within(done);
  });
}

/** Lets `error.filter.ts` distinguish a wrong method from a wrong path. */
function rememberRoutes(server: FastifyInstance, paths: KnownPaths): void {
  server.decorate('knownPaths', paths);
  server.addHook('onRoute', ({ url, method }) => paths.add(url, method));
}

/** Reads one header more than allowed, to detect too many. */
function limitHeaders(server: FastifyInstance): void {
  server.server.maxHeadersCount = MAX_HEADERS + 1;
  server.addHook('onRequest', (request, reply, done) => {
    // Names and values alternate.
    if (request.raw.rawHeaders.length <= 2 * MAX_HEADERS) return done();
    refuseAtOnce(request, reply.status(431), HEADERS_TOO_LARGE);
  });
}

/**
 * Requires exactly one `Host`, which HTTP/1.0 may omit (RFC 9112 §3.2). Node.js would use the first of two.
 */
function refuseUnlessOneHost(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { rawHeaders, httpVersion } = request.raw;
    let hosts = 0;
    // Names and values alternate.
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
    if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return done();
    refuseAtOnce(request, reply.status(400), UNREADABLE);
  });
}

/** Answers without waiting for the rest of the request. The hooks of routes do not run. */
function refuseAtOnce({ id: requestId }: FastifyRequest, reply: FastifyReply, body: object): void {
  void reply.headers({ ...UNFRAMED_HEADERS, connection: 'close' }).send({ ...body, requestId });
}

/** A path that cannot be decoded never reaches a route; Fastify's own response would echo it. */
function answerUndecodablePath(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  setCommonHeaders(request, reply);
  // The hooks of routes do not run.
  void reply.headers(UNFRAMED_HEADERS);
  void reply.status(400).send({ ...UNREADABLE, requestId: request.id });
}

/** One field more than allowed, to detect too many; the rest is not parsed (B.work). */
const FORM_OPTIONS = { maxKeys: MAX_FIELDS + 1 };

/**
 * Node.js parses forms, and security event tokens are text. Routes get JSON as bytes, which they parse by their own
 * rules. Other bodies are not read. Nothing is refused here: guards may refuse the request first (D20), and each route has its own error
 * format.
 */
function readBodies(server: FastifyInstance): void {
  dropFalseLabels(server);
  const reader =
    (parsed: (bytes: Buffer) => unknown): FastifyContentTypeParser =>
    (request, payload, done) =>
      readBytes(request, payload, (error, bytes) =>
        done(error, Buffer.isBuffer(bytes) ? parsed(bytes) : bytes),
      );
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    reader((bytes) => parse(bytes.toString(), '&', '=', FORM_OPTIONS)),
  );
  server.addContentTypeParser(
    'application/secevent+jwt',
    reader((bytes) => bytes.toString()),
  );
  server.addContentTypeParser(
    'application/json',
    reader((bytes) => bytes),
  );
  server.addContentTypeParser('*', (_request, _stream, done) => done(null));
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

/**
 * Fastify would refuse a Content-Type that is not a media type. Without the header, the route refuses the
 * body.
 */
function dropFalseLabels(server: FastifyInstance): void {
  server.addHook('onRequest', ({ headers }, _reply, done) => {
    const { 'content-type': label } = headers;
    if (label !== undefined && !MEDIA_TYPE.test(label)) delete headers['content-type'];
    done();
  });
}

/**
 * @rule D124 Fastify's own reader closes the connection while a client still sends a body that is too large.
 * This one drops the rest, so that the client gets the response.
 */
function readBytes(
  { headers }: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: Buffer | typeof TOO_LARGE) => void,
): void {
  if (Number(headers['content-length']) > BODY_LIMIT_BYTES) return done(null, TOO_LARGE);
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_LIMIT_BYTES) return void chunks.push(chunk);
    payload.off('data', take).off('end', end).resume();
    done(null, TOO_LARGE);
  };
  const end = () => done(null, Buffer.concat(chunks));
  // The client has disconnected, which is not the service's fault.
  const fail = (error: Error) => done(Object.assign(error, { statusCode: 400 }));
  payload.on('data', take).on('end', end).once('error', fail);
}

/**
 * Sets the headers in the first hook, because later hooks may answer, for example Nest's for the target `*`.
 */
function answerWithCommonHeaders(adapter: FastifyAdapter): void {
  adapter.setOnRequestHook((request, reply, done) => {
    setCommonHeaders(request, reply);
    done();
  });
}

/** Every response has the request id (D21). */
function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id).headers(COMMON_HEADERS);
}

/** One line per response. The line has the route's pattern instead of the URL, which may contain a token. */
function logAnswers(server: FastifyInstance, logger: Logger, recordedRoutes: ReadonlySet<string>): void {
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? null;
    const isRecorded = recordedRoutes.has(route ?? '') && reply.statusCode < 400;
    const level = isRecorded || PROBES.has(route ?? '') ? 'debug' : 'info';
    const { id: requestId, method } = request;
    const milliseconds = Math.round(reply.elapsedTime * 10) / 10;
    logger[level]({ requestId, method, route, status: reply.statusCode, milliseconds }, 'request');
    done();
  });
}

/** A route's pattern by segments; `undefined` is a parameter. */
type Pattern = readonly (string | undefined)[];

interface KnownPath {
  readonly url: string;
  readonly pattern: Pattern;
  readonly methods: Set<string>;
}

/** All known paths and their methods. Used only for requests that no route answers. */
export class KnownPaths {
  private readonly paths = new Map<string, KnownPath>();
  private longest = 0;

  /**
   * @param isAbsent whether a route, given by pattern and method, currently behaves as if it did not exist;
   * called each time
   */
  constructor(private readonly isAbsent: (url: string, method: string) => boolean) {}

  /** @param url the pattern of a route, such as `/api/v1/users/:userId` */
  add(url: string, methods: string | readonly string[]): void {
    const pattern = url.split('/').map((segment) => (segment.startsWith(':') ? undefined : segment));
    const path = this.paths.get(url) ?? { url, pattern, methods: new Set() };
    for (const method of [methods].flat()) path.methods.add(method);
    this.paths.set(url, path);
    this.longest = Math.max(this.longest, pattern.length);
  }

  /** The methods that this target allows; none if the path is unknown. */
  methodsAt(target: string): readonly string[] {
    const path = target.includes('?') ? target.slice(0, target.indexOf('?')) : target;
    const segments = path.split('/', this.longest + 1);
    const known = [...this.paths.values()].filter(({ pattern }) => matches(pattern, segments));
    const methods = known.flatMap((path) =>
      [...path.methods].filter((method) => !this.isAbsent(path.url, method)),
    );
    return [...new Set(methods)];
  }
}

function matches(pattern: Pattern, segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((expected, index) => {
    const segment = segments[index];
    return expected === undefined ? segment !== '' : expected === segment;
  });
}
