// Requests of any HTTP server, their state, and responses to them. The package imports no server.
import type { IncomingHttpHeaders } from 'node:http';
import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { requestIdOf } from '../log/request-id.js';
import { COMMON_HEADERS, PUBLISHED_MAX_AGE_SECONDS } from './answers.js';

/** The parts of a Fastify or Express request that are used here. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** The requested URL; Express rewrites `url`. */
  readonly originalUrl?: string;
  readonly headers: IncomingHttpHeaders;
  /** The client's address, according to the host's proxy settings. */
  readonly ip?: string;
  /** `http` or `https`, according to the host's proxy settings. */
  readonly protocol?: string;
  /** The id that the host has assigned. */
  readonly id?: unknown;
  /** The parsed body. */
  readonly body?: unknown;
  /** The parsed query. */
  readonly query?: unknown;
}

/** The request of a call. */
export function requestOf(context: ArgumentsHost | ExecutionContext): HttpRequest {
  return context.switchToHttp().getRequest<HttpRequest>();
}

/** The state of a request in progress, shared by server, guards, flow and error filter. */
export class RequestState {
  /** When the wait for the database began, on the monotonic clock, in milliseconds. */
  waitsSinceMs: number | undefined = undefined;
  /** Whether the server's limit includes it. */
  isInProgress = false;
  /**
   * Lets the next request start while this one mostly waits. Undefined if this one is not being processed.
   */
  releaseSlot: (() => void) | undefined = undefined;

  /** Guards call this when the body has arrived. A second call has no effect. */
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

/** A response. An object body is JSON; a string has the given `content-type`. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

/**
 * Responses are not cached (RFC 6749 §5.1; D23). See http/server.ts for other routes. The URL of a login by
 * GET contains a token, so no other site gets it as a referrer.
 */
const COMMON = Object.entries(COMMON_HEADERS);

/**
 * An hour in a cache is harmless: keys are published before they sign, and the rest changes only with the
 * configuration.
 */
const PUBLISHED = {
  'cache-control': `public, max-age=${PUBLISHED_MAX_AGE_SECONDS}`,
  'access-control-allow-origin': '*',
};

/** For public responses: any request header is allowed. */
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
 * Sends responses without the host's interceptors, which may wrap a route's result: the format of these
 * responses is fixed.
 */
@Injectable()
export class HttpAnswers {
  constructor(private readonly host: HttpAdapterHost) {}

  /** Replaces existing headers, except `Set-Cookie`: the host may set its own cookies. */
  reply(request: HttpRequest, response: object, { status, headers = NONE, body }: HttpAnswer): void {
    const { httpAdapter } = this.host;
    // The host has already answered the request, for example because of its own time limit.
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
   * Sends a public response that caches may keep. Not for a 404, which must not be cached.
   * @rule D57 Pages of every origin may read it without credentials, and so may programs. See http/server.ts
   * and http/content-type.ts for methods and encodings.
   */
  publish(request: HttpRequest, response: object, body: object): void {
    const { httpAdapter } = this.host;
    (response as { removeHeader(name: string): unknown }).removeHeader('pragma');
    httpAdapter.setHeader(response, 'x-request-id', requestIdOf(request));
    for (const [name, value] of Object.entries(PUBLISHED)) httpAdapter.setHeader(response, name, value);
    void httpAdapter.reply(response, body, 200);
  }

  /** Answers a CORS preflight for a public response. */
  permit(request: HttpRequest, response: object): void {
    this.reply(request, response, PREFLIGHT);
  }
}
