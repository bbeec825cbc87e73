// The HTTP server: how requests are read, numbered, logged and answered, before any route.
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
import { BODY_LIMIT_BYTES, MAX_FIELDS, TOO_LARGE } from './content-type.js';
import { MAX_REQUEST_ID_CHARACTERS, idOfRequest } from '../log/request-id.js';
import type { RequestTraces } from '../log/tracing.js';
import { Tracing, readTraceparent } from '../log/tracing.js';
import type { GracefulShutdown } from './graceful-shutdown.js';
import { COMMON_HEADERS, HEADERS_TOO_LARGE, UNFRAMED_HEADERS, UNREADABLE } from './answers.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import type { UnfinishedRequests } from './connection-limits.js';
import { limitPipelining } from './connection-limits.js';
import { answerUnreadableRequest } from './unreadable-request.js';

/** What the socket and the parser need, before Nest makes anything. */
export interface ServerOptions {
  /** How many reverse proxies in front are believed. */
  readonly proxyHops: number;
  readonly logger: Logger;
  /** Certificate and key, PEM: with them the server speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** How long the server waits for the next request on a connection. */
  readonly keepAliveSeconds: number;
}

/** What the hooks of the server use. */
export interface ServerParts {
  readonly logger: Logger;
  /** Where `logger` finds the trace of a request. */
  readonly traces: RequestTraces;
  /** Follows connections and requests. */
  readonly shutdown: GracefulShutdown;
  /** Counts requests in progress and refuses those over its limit. */
  readonly concurrency: ConcurrencyLimit;
  /** Counts what unfinished requests keep; the oldest of too many are closed. */
  readonly unfinished: UnfinishedRequests;
  /** Whether a route, by its pattern and method, looks at this moment as if it were not there: `Allow` leaves it out. */
  readonly isAbsent: (url: string, method: string) => boolean;
  /** Routes each success of which is an audit event, which the log has: a second line would cost an exchange a twentieth of its time. */
  readonly recordedRoutes: ReadonlySet<string>;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly knownPaths: KnownPaths;
  }
}

/** @rule B.headers The default of Node.js, whatever its options say: clients that only send headers cannot fill the memory. */
const HEADER_LIMIT_BYTES = 16 * 1024;
/** @rule B.headerCount Of no honest request; Node.js would drop what comes after its own limit without a word. */
const MAX_HEADERS = 100;
/** From the first byte of a request, or from the connection. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** With no byte either way, from a request until its answer is sent. Longer than it takes to notice a request that comes too slowly. */
const SILENCE_MS = 60_000;
/** How often Node.js looks for clients that are too slow. */
const SLOW_CLIENTS_LOOK_MS = 1_000;

/**
 * Makes the Fastify adapter. `X-Forwarded-Proto` and `X-Forwarded-For` are believed from as many proxies as configured:
 * this half of D27; the other is embed-login.controller.ts.
 */
export function createAdapter({ proxyHops, logger, tls, keepAliveSeconds }: ServerOptions): FastifyAdapter {
  const node = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: keepAliveSeconds * 1000,
    maxHeaderSize: HEADER_LIMIT_BYTES,
    connectionsCheckingInterval: SLOW_CLIENTS_LOOK_MS,
    // Node.js would answer without body and request id: `refuseUnlessOneHost` does it.
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
    // The embed endpoint alone refuses HEAD, by its guard.
    exposeHeadRoutes: true,
    // As long as the request id of a client: it is the longest parameter of a path.
    routerOptions: { maxParamLength: MAX_REQUEST_ID_CHARACTERS },
    // Requests that arrive on open connections while the service stops are still answered.
    return503OnClosing: false,
    logger: false,
    frameworkErrors: answerUndecodablePath,
    clientErrorHandler: (error, socket) => answerUnreadableRequest(logger, error, socket),
  } satisfies FastifyServerOptions);
}

/** Adds the hooks, in their order. Call it before Nest adds routes. */
export function prepareServer(adapter: FastifyAdapter, parts: ServerParts): void {
  const { logger, traces, shutdown, concurrency, unfinished } = parts;
  const server: FastifyInstance = adapter.getInstance();
  standBefore(server.server, parts);
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

/** Puts the limits before Fastify, whose hooks take a third of the time of an exchange. */
function standBefore(server: Server, { shutdown, concurrency, unfinished }: ServerParts): void {
  const [handler] = server.listeners('request') as RequestListener[];
  if (handler === undefined) throw new Error('the server has no handler');
  const limited = limitPipelining(unfinished.standBefore(concurrency.standBefore(handler)));
  const answer: RequestListener = (request, response) => {
    if (shutdown.isUnderWay) response.setHeader('connection', 'close');
    limited(request, response);
  };
  // An unknown `Expect` is ignored (RFC 9110 §10.1.1): the 417 of Node.js would have no request id.
  server.off('request', handler).on('request', answer).on('checkExpectation', answer);
}

/** A log line or a span for each request would bury the others. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/healthz/readiness']);

/**
 * Takes the trace of each request over, into log lines and, where the operator has loaded an SDK, into spans. The span includes the work
 * of the hooks that are added later.
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
    // Comes in every case, also if the client has disconnected.
    raw.once('close', () => {
      if (ids !== undefined) traces.end(id, ids);
      span?.end(raw.writableFinished ? raw.statusCode : undefined);
    });
    if (span === undefined) done();
    else span.within(done);
  });
}

/** So that `error.filter.ts` can distinguish the wrong method from the wrong path. */
function rememberRoutes(server: FastifyInstance, paths: KnownPaths): void {
  server.decorate('knownPaths', paths);
  server.addHook('onRoute', ({ url, method }) => paths.add(url, method));
}

/** Reads one more than allowed, so that too many can be recognised. */
function limitHeaders(server: FastifyInstance): void {
  server.server.maxHeadersCount = MAX_HEADERS + 1;
  server.addHook('onRequest', (request, reply, done) => {
    // Names and values take turns.
    if (request.raw.rawHeaders.length <= 2 * MAX_HEADERS) return done();
    refuseAtOnce(request, reply.status(431), HEADERS_TOO_LARGE);
  });
}

/** RFC 9112 §3.2: one `Host`, which HTTP/1.0 may leave out. Node.js would take the first of two. */
function refuseUnlessOneHost(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { rawHeaders, httpVersion } = request.raw;
    let hosts = 0;
    // Names and values in turns.
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
    if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return done();
    refuseAtOnce(request, reply.status(400), UNREADABLE);
  });
}

/** The rest of the request is waited for no longer. The hooks of routes see none of it. */
function refuseAtOnce({ id: requestId }: FastifyRequest, reply: FastifyReply, body: object): void {
  void reply.headers({ ...UNFRAMED_HEADERS, connection: 'close' }).send({ ...body, requestId });
}

/** A path that cannot be decoded never reaches a route; Fastify's own answer would echo it. */
function answerUndecodablePath(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  setCommonHeaders(request, reply);
  // The hooks of routes see none of it.
  void reply.headers(UNFRAMED_HEADERS);
  void reply.status(400).send({ ...UNREADABLE, requestId: request.id });
}

/** One more than is allowed, so that too many can be recognised; the rest costs nothing (B.work). */
const FORM_OPTIONS = { maxKeys: MAX_FIELDS + 1 };

/**
 * Forms are parsed by Node.js. JSON arrives at the routes as bytes, which refuse it by their own rules. Another body is not read. Nothing is
 * refused here: guards may refuse the request first (D20), and each route answers in the form of its errors.
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
    'application/json',
    reader((bytes) => bytes),
  );
  server.addContentTypeParser('*', (_request, _stream, done) => done(null));
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

/** Fastify itself would refuse a Content-Type that is no media type. Without the header, the route refuses the body. */
function dropFalseLabels(server: FastifyInstance): void {
  server.addHook('onRequest', ({ headers }, _reply, done) => {
    const { 'content-type': label } = headers;
    if (label !== undefined && !MEDIA_TYPE.test(label)) delete headers['content-type'];
    done();
  });
}

/**
 * @rule D124 Fastify's own reader closes the connection on a client that still sends a body that is too large. This one drops the rest, so
 * that the client gets the answer.
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
  // The client has gone away, which is no fault of the service.
  const fail = (error: Error) => done(Object.assign(error, { statusCode: 400 }));
  payload.on('data', take).on('end', end).once('error', fail);
}

/** By the hook that runs before all others: some of them answer, Nest's own for the target `*` too. */
function answerWithCommonHeaders(adapter: FastifyAdapter): void {
  adapter.setOnRequestHook((request, reply, done) => {
    setCommonHeaders(request, reply);
    done();
  });
}

/** The id is on every answer (D21). */
function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id).headers(COMMON_HEADERS);
}

/** One line an answer. The route's pattern stands for the address: a real one may hold a token or anything else. */
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

/** A route's pattern by segments; `undefined` stands for a parameter. */
type Pattern = readonly (string | undefined)[];

interface KnownPath {
  readonly url: string;
  readonly pattern: Pattern;
  readonly methods: Set<string>;
}

/** Nothing of it is asked for a request that a route answers. */
export class KnownPaths {
  private readonly paths = new Map<string, KnownPath>();
  private longest = 0;

  /** @param isAbsent whether a route, by its pattern and method, is to look as if it were not there; asked each time */
  constructor(private readonly isAbsent: (url: string, method: string) => boolean) {}

  /** @param url the pattern of a route, such as `/api/v1/users/:userId` */
  add(url: string, methods: string | readonly string[]): void {
    const pattern = url.split('/').map((segment) => (segment.startsWith(':') ? undefined : segment));
    const path = this.paths.get(url) ?? { url, pattern, methods: new Set() };
    for (const method of [methods].flat()) path.methods.add(method);
    this.paths.set(url, path);
    this.longest = Math.max(this.longest, pattern.length);
  }

  /** The methods that a request for this target might have; none where no route is there. */
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
