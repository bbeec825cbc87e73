// Turns every error that no flow's own filter handles into the API's error body.
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { HttpException, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { LOGGER } from '../log/log.js';
import { DatabaseOutages } from './database-outages.js';
import {
  ACCEPTED_CODING,
  ContentCodingException,
  HEADERS_TOO_LARGE,
  INTERNAL_ERROR_MESSAGE,
  NOT_FOUND,
  TOO_LARGE_MESSAGE,
  UNREADABLE,
} from './http-messages.js';
import { TemporarilyUnavailableException } from './temporarily-unavailable.exception.js';

/**
 * Codes and messages for errors without their own, mostly Fastify's. Fastify's messages might echo the
 * request.
 */
const PLAIN_ANSWERS: Readonly<Record<number, { error: string; message: string }>> = {
  400: UNREADABLE,
  401: { error: 'invalid_token', message: 'Sign in, or send an access token' },
  403: { error: 'forbidden', message: 'This is not allowed' },
  405: { error: 'method_not_allowed', message: 'The method is not allowed here' },
  412: {
    error: 'precondition_failed',
    message: 'What is here is not what If-Match or If-Unmodified-Since names',
  },
  413: { error: 'payload_too_large', message: TOO_LARGE_MESSAGE },
  415: { error: 'unsupported_media_type', message: 'The content type is not supported' },
  431: HEADERS_TOO_LARGE,
};

const API_CALL = { label: 'api', retryAdvice: 'a change may have been made, so look before trying again' };

@Injectable()
export abstract class ErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly outages: DatabaseOutages,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    // If a client disconnects during its body, the error has the code of a lost connection, and a status from
    // Fastify.
    const error = statusGiven(thrown) === undefined ? this.outages.refusalOf(thrown, API_CALL) : thrown;
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const methods = methodsAt(request);
    const status = methods.length > 0 ? 405 : request.is404 ? 404 : statusOf(error);
    if (methods.length > 0) void reply.header('allow', methods.join(', '));
    if (error instanceof ContentCodingException) void reply.headers(ACCEPTED_CODING);
    if (error instanceof TemporarilyUnavailableException)
      void reply.header('retry-after', error.retryAfterSeconds);
    // A deliberate 5xx (readiness) is not a bug.
    const isFault = status >= 500 && !(error instanceof HttpException);
    if (isFault)
      this.logger.error(
        { err: error, requestId: request.id },
        'a request failed because of an internal error',
      );
    await reply.status(status).send(bodyOf(error, status, request.id));
  }
}

/** The allowed methods of a known path that no route has matched; otherwise none. */
function methodsAt({ is404, server, url }: FastifyRequest): readonly string[] {
  return is404 ? server.knownPaths.methodsAt(url) : [];
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  return statusGiven(error) ?? 500;
}

/** The 4xx status that Fastify has given to a client error. */
function statusGiven(error: unknown): number | undefined {
  const { statusCode: status } = Object(error) as { readonly statusCode?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

function bodyOf(error: unknown, status: number, requestId: string): object {
  if (status === 404) return NOT_FOUND;
  const own = error instanceof HttpException ? ownBody(error) : undefined;
  const fallback = PLAIN_ANSWERS[status] ?? { error: 'internal_error', message: INTERNAL_ERROR_MESSAGE };
  return { ...(own ?? fallback), requestId };
}

/** The body that our code gave to the exception. Nest's own bodies contain `statusCode` and are not used. */
function ownBody(error: HttpException): { error: string; message: string } | undefined {
  const body = error.getResponse();
  if (typeof body !== 'object' || 'statusCode' in body) return undefined;
  return body as { error: string; message: string };
}
