// The HTTP server: how requests are read, numbered, logged and answered, before any route.
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import type { Logger } from 'pino';
import { requestIdOf } from './request-id.js';
import { answerUnreadableRequest } from './unreadable-request.js';

export interface ServerOptions {
  /** How many reverse proxies in front are believed. */
  readonly proxyHops: number;
  readonly logger: Logger;
  /** Certificate and key, PEM: with them the server speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Larger than the largest token (64 KiB) by far, so that an over-long token is judged as a token. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
const SLOW_CLIENT_MS = 30_000;

/**
 * Makes the Fastify adapter. `X-Forwarded-Proto` and `X-Forwarded-For` are believed from as many proxies as configured
 * (1.4, D27).
 */
export function createServer({ proxyHops, logger, tls }: ServerOptions): FastifyAdapter {
  const options = {
    trustProxy: (_address, hop) => hop < proxyHops,
    genReqId: requestIdOf,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: SLOW_CLIENT_MS,
    // A HEAD of the embed endpoint must not sign anybody in.
    exposeHeadRoutes: false,
    // Requests that arrive on open connections while the service stops are still answered.
    return503OnClosing: false,
    logger: false,
    frameworkErrors: answerUndecodablePath,
    clientErrorHandler: (error, socket) => answerUnreadableRequest(logger, error, socket),
  } satisfies FastifyServerOptions;
  const adapter = new FastifyAdapter(tls === undefined ? options : { ...options, https: tls });
  const server: FastifyInstance = adapter.getInstance();
  readBodiesUnparsed(server);
  answerWithCommonHeaders(server);
  logAnswers(server, logger);
  return adapter;
}

/** A path that cannot be decoded never reaches a route; Fastify's own answer would echo it. */
function answerUndecodablePath(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  setCommonHeaders(request, reply);
  void reply.status(400).send({ error: 'bad_request', message: 'The request cannot be read' });
}

/**
 * Bodies of every type arrive at the routes as bytes. Guards must be able to refuse a request before its body is
 * judged (D20), and each route reads only the one type that it is made for.
 */
function readBodiesUnparsed(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/**
 * @rule D22 Answers are not stored, unless a route says otherwise.
 * The id is on every answer (D21); no page of ours tells others where its visitor came from (D23).
 */
function answerWithCommonHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    done();
  });
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply.headers({
    'x-request-id': request.id,
    'cache-control': 'no-store',
    pragma: 'no-cache',
    'referrer-policy': 'no-referrer',
  });
}

/** Asked every few seconds by machines; a line for each would bury the others. */
const PROBES = new Set(['/healthz', '/healthz/readiness', '/metrics']);

/** One line an answer. The route's pattern stands for the address: a real one may hold a token or anything else. */
function logAnswers(server: FastifyInstance, logger: Logger): void {
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? null;
    const level = PROBES.has(route ?? '') ? 'debug' : 'info';
    const { id: requestId, method } = request;
    const milliseconds = Math.round(reply.elapsedTime * 10) / 10;
    logger[level]({ requestId, method, route, status: reply.statusCode, milliseconds }, 'request');
    done();
  });
}
