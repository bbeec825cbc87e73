// Requests of any HTTP server with their state, and answers to them: the package imports no server.
import type { IncomingHttpHeaders } from 'node:http';
import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { requestIdOf } from '../log/request-id.js';
import { COMMON_HEADERS, PUBLISHED_MAX_AGE_SECONDS } from './answers.js';

/** A request of Fastify or Express, as far as it is read. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** The address as it was asked for; Express changes `url` on the way. */
  readonly originalUrl?: string;
  readonly headers: IncomingHttpHeaders;
  /** The client's address, by what the host knows of its proxies. */
  readonly ip?: string;
  /** `http` or `https`, by what the host knows of its proxies. */
  readonly protocol?: string;
  /** An id that the host has given it. */
  readonly id?: unknown;
  /** What a parser has made of the body. */
  readonly body?: unknown;
  /** What a parser has made of the query of the address. */
  readonly query?: unknown;
}

/** The request of a call. */
export function requestOf(context: ArgumentsHost | ExecutionContext): HttpRequest {
  return context.switchToHttp().getRequest<HttpRequest>();
}

/** The state of a request in progress, for everything that handles it in turn: server, guards, flow and error filter. */
export class RequestState {
  /** When its wait for the database began, in milliseconds on the monotonic clock. */
  waitsSinceMs: number | undefined = undefined;
  /** Whether the server's limit counts it as in progress. */
  isInProgress = false;
  /** Lets the next request be processed while this one does little but wait. Undefined if this one has no place. */
  giveUpPlace: (() => void) | undefined = undefined;

  /** Called by a guard when the body has arrived. A second call changes nothing. */
  beginWait(): void {
    this.waitsSinceMs ??= performance.now();
  }

  /** Milliseconds since the wait began; undefined before. */
  get waitedMs(): number | undefined {
    return this.waitsSinceMs === undefined ? undefined : performance.now() - this.waitsSinceMs;
  }
}

const STATE = Symbol('state of a request');

export function stateOf(request: object): RequestState {
  return ((request as { [STATE]?: RequestState })[STATE] ??= new RequestState());
}

/** An answer with a body: an object is JSON, text is what its `content-type` says. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

/**
 * Answers are not stored (RFC 6749 §5.1; D23). See src/platform/http/server.ts for other routes. The address of a login by GET
 * contains a token, so no other site gets it as a referrer.
 */
const COMMON = Object.entries(COMMON_HEADERS);

/** An hour in a cache does no harm: keys are published earlier than they sign, the rest changes with the configuration. */
const PUBLISHED = {
  'cache-control': `public, max-age=${PUBLISHED_MAX_AGE_SECONDS}`,
  'access-control-allow-origin': '*',
};

/** Of what is published: any header may be sent, for which browsers ask first. */
const PREFLIGHT: HttpAnswer = {
  status: 204,
  headers: {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
  },
};

const NONE = {};

/**
 * Answers requests past interceptors of the host, which may wrap what a route returns into something of their own: what is
 * answered here is laid down.
 */
@Injectable()
export class HttpAnswers {
  constructor(private readonly host: HttpAdapterHost) {}

  /** A header that is there already is replaced, but for `Set-Cookie`: the host may set cookies of its own. */
  reply(request: HttpRequest, response: object, { status, headers = NONE, body }: HttpAnswer): void {
    const { httpAdapter } = this.host;
    // The host has given up on the request meanwhile, for example by a time limit of its own.
    if (httpAdapter.isHeadersSent(response)) return;
    httpAdapter.setHeader(response, 'x-request-id', requestIdOf(request));
    for (const [name, value] of COMMON) httpAdapter.setHeader(response, name, value);
    for (const [name, value] of Object.entries(headers)) {
      if (name === 'set-cookie') httpAdapter.appendHeader(response, name, value);
      else httpAdapter.setHeader(response, name, value);
    }
    void httpAdapter.reply(response, body, status);
  }

  /**
   * Answers with what anyone may fetch and cache. A 404 must not be cached, so it is not answered so.
   * @rule D57 Pages of every origin may read it, without credentials, as programs may. See http/server.ts and
   * http/content-type.ts for the methods and encodings.
   */
  publish(request: HttpRequest, response: object, body: object): void {
    const { httpAdapter } = this.host;
    (response as { removeHeader(name: string): unknown }).removeHeader('pragma');
    httpAdapter.setHeader(response, 'x-request-id', requestIdOf(request));
    for (const [name, value] of Object.entries(PUBLISHED)) httpAdapter.setHeader(response, name, value);
    void httpAdapter.reply(response, body, 200);
  }

  /** Answers what a browser asks before it reads what is published (CORS preflight). */
  permit(request: HttpRequest, response: object): void {
    this.reply(request, response, PREFLIGHT);
  }
}
