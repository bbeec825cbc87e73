// Requests of any HTTP server: their ids, their state, and the headers of their bodies. Responses to them: bodies and
// headers that several endpoints share, and how they are sent. The package imports no server.
import { isAscii } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { Injectable, UnsupportedMediaTypeException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { recentlyUsed } from '../recently-used.js';

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

/** Ids are printable, short, and harmless in log lines, headers and the database. */
export const MAX_REQUEST_ID_CHARACTERS = 128;
const WELL_FORMED = new RegExp(`^[\\w.:-]{8,${MAX_REQUEST_ID_CHARACTERS}}$`);

const GIVEN = Symbol('the id that a request was given');

/** A request to which its server may have assigned an id. */
interface NumberedRequest {
  readonly id?: unknown;
  [GIVEN]?: string;
}

/** The prefix of Fastify's default ids, which start from one again after each restart. */
const COUNTED = 'req-';

/**
 * The id of a request, which never changes: the server's id if it is unique, or a new one. See `HttpAnswers`
 * for the header of responses, server.ts for other routes and the access line, and audit-trail.ts for the id in
 * events.
 */
export function requestIdOf(request: NumberedRequest): string {
  if (isWellFormed(request.id) && !request.id.startsWith(COUNTED)) return request.id;
  // Stored on the request: a WeakMap costs the garbage collector more than everything else here.
  return (request[GIVEN] ??= newRequestId());
}

/** The client's `X-Request-Id`; undefined if it is missing or malformed. */
export function sentRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const sent = headers['x-request-id'];
  return isWellFormed(sent) ? sent : undefined;
}

/** The number of ids per millisecond. */
const IDS_PER_MS = 32 ** 3;
let latest = { atMs: 0, count: 0 };

/**
 * A new id of twenty base-32 digits (RFC 4648 §7, in lower case): the time in milliseconds, a count within
 * it, and 32 random bits. Ids increase even if the clock is set back, so that the audit trail's index only
 * grows at its end. Random ids would change another page each, which the database's log contains in full
 * after every checkpoint.
 */
export function newRequestId(): string {
  const now = Date.now();
  if (now > latest.atMs) latest = { atMs: now, count: 0 };
  else if (latest.count + 1 < IDS_PER_MS) latest.count += 1;
  else latest = { atMs: latest.atMs + 1, count: 0 };
  return base32(latest.atMs, 9) + base32(latest.count, 3) + randomUUID().slice(0, 8);
}

function base32(number: number, digits: number): string {
  return number.toString(32).padStart(digits, '0');
}

function isWellFormed(id: unknown): id is string {
  return typeof id === 'string' && WELL_FORMED.test(id);
}

/**
 * The clients' ids by the service's own unique ids. Has more entries than requests can be in progress.
 * Passing the id through every call would cost each request.
 */
const sentIds = recentlyUsed<string>(20_000);

/**
 * The id of a request for its whole lifetime.
 * @rule D21 A well-formed `X-Request-Id` becomes the id only if a trusted proxy sends it. Otherwise the
 * service logs it in addition to its own id. See audit-trail.repository.ts for the trail, and logger.ts for
 * log lines.
 * @param isTrusted whether a reverse proxy is trusted
 */
export function idOfRequest(request: Pick<IncomingMessage, 'headers'>, isTrusted: boolean): string {
  const sent = sentRequestId(request);
  if (sent !== undefined && isTrusted) return sent;
  const id = newRequestId();
  if (sent !== undefined) sentIds.set(id, sent);
  return id;
}

/** The client's own id of this request; undefined if there is none, or it became the request's id. */
export function clientRequestIdOf(requestId: string): string | undefined {
  return sentIds.get(requestId);
}

/**
 * Much larger than the largest token (64 KiB), so that an over-long token is checked as a token.
 * @rule B.body The same limit for all routes.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;
export const TOO_LARGE_MESSAGE = `The request body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`;

/**
 * Replaces a body above the limit. The route refuses it, because guards may refuse the request first (D20).
 */
export const TOO_LARGE = Symbol('a body over the limit');

/** The highest number of form fields. No honest form comes close. */
export const MAX_FIELDS = 100;

/** The headers that describe a body. */
export interface BodyLabel {
  readonly 'content-type'?: string;
  readonly 'content-encoding'?: string;
}

/** Why a body cannot be read. */
export type LabelFault = 'content_encoding' | 'media_type' | 'charset';

const UTF_8: ReadonlySet<string> = new Set(['utf-8', 'utf8']);
/** Equal to UTF-8 for ASCII. Apache HttpClient sends `ISO-8859-1` by default. */
const SAME_IN_ASCII: ReadonlySet<string> = new Set([...UTF_8, 'iso-8859-1', 'us-ascii']);

/**
 * Checks the headers of a body that must have one media type, in UTF-8 and without a content coding (RFC 9110
 * §8.3, §8.4). Forms and JSON have no charset parameter, but many clients send one.
 * @param form the form's fields, which may have another charset if they are all ASCII
 * @returns undefined if the body can be read
 */
export function faultOfLabel(
  { 'content-encoding': coding = '', 'content-type': label = '' }: BodyLabel,
  mediaType: string,
  form?: object,
): LabelFault | undefined {
  if (!/^(identity)?$/i.test(coding)) return 'content_encoding';
  const [type = '', ...parameters] = label.split(';');
  if (type.trim().toLowerCase() !== mediaType) return 'media_type';
  const charsets = parameters.map(charsetIn).filter((name) => name !== undefined);
  if (charsets.every((name) => UTF_8.has(name))) return undefined;
  const isSame = form !== undefined && charsets.every((name) => SAME_IN_ASCII.has(name));
  return isSame && isAscii(Buffer.from(JSON.stringify(form))) ? undefined : 'charset';
}

/** Undefined for any other parameter. */
function charsetIn(parameter: string): string | undefined {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim().toLowerCase() === 'charset' ? value.replaceAll('"', '').trim().toLowerCase() : undefined;
}

/** The body is compressed, or has another content coding. */
export class ContentCodingException extends UnsupportedMediaTypeException {
  constructor() {
    super({ error: 'unsupported_media_type', message: CODING_MESSAGE });
  }
}

/**
 * @rule D23 Every 404 has this body: nothing of the request is echoed. See log/logger.ts and server.ts for
 * the content of log lines, and error.filter.ts for other errors.
 */
export const NOT_FOUND = { error: 'not_found', message: 'Not found' } as const;

/** For requests that cannot be read: nothing of them is echoed either. */
export const UNREADABLE = { error: 'bad_request', message: 'The request cannot be read' } as const;
export const HEADERS_TOO_LARGE = {
  error: 'headers_too_large',
  message: 'The request headers are too large',
} as const;

/** The message for a bug of the service; the log has the details under the same request id. */
export const INTERNAL_ERROR_MESSAGE = 'Internal error';

/** Only for a 415 because of the content coding (RFC 9110 §12.5.3). */
export const ACCEPTED_CODING = { 'accept-encoding': 'identity' } as const;
export const CODING_MESSAGE = 'The body must not have a Content-Encoding';

/**
 * Responses are not cached, unless a route says otherwise (RFC 6749 §5.1; D23). No page of the instance sends a
 * referrer (D23). The URL of a login by GET contains a token, so no other site gets it as a referrer.
 */
export const COMMON_HEADERS = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'referrer-policy': 'no-referrer',
} as const;

/** How long caches keep public responses, in seconds. */
export const PUBLISHED_MAX_AGE_SECONDS = 3_600;

/** For responses without a route. The page that sent the request is unknown, so no page may frame them (D111). */
export const UNFRAMED_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
} as const;

/** A response. An object body is JSON; a string has the given `content-type`. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

const COMMON = Object.entries(COMMON_HEADERS);

/**
 * An hour in a cache is harmless: keys are published before they sign, and the rest changes only with the
 * configuration.
 */
const PUBLISHED = {
  'cache-control': `public, max-age=${PUBLISHED_MAX_AGE_SECONDS}`,
  'access-control-allow-origin': '*',
};

/** Allows all request headers, because the response is public. */
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
   * @rule D57 Pages of every origin may read it without credentials, and so may programs.
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
