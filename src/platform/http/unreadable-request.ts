// Answers what never becomes a request: bytes that are not HTTP, headers that are too large, clients that are too slow.
import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { Logger } from 'pino';
import { newRequestId } from '../log/request-id.js';

interface Answer {
  readonly status: number;
  readonly error: string;
  readonly message: string;
}

const NOT_HTTP: Answer = { status: 400, error: 'bad_request', message: 'The request cannot be read' };
/** Also where there are too many of them (server.ts). */
export const HEADERS_TOO_LARGE = {
  error: 'headers_too_large',
  message: 'The request headers are too large',
} as const;
/** By the code of Node.js's error. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    ...HEADERS_TOO_LARGE,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    error: 'request_timeout',
    message: 'The request took too long to arrive',
  },
};

/**
 * Answers on the bare connection, with the same headers and body as everywhere (D21–D23), and ends it. The log has the
 * id and Node.js's code; what the client sent is not repeated.
 */
export function answerUnreadableRequest(
  logger: Logger,
  { code = '' }: { code?: string },
  socket: Socket,
): void {
  // The client has disconnected, or is being answered already.
  if (code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const { status, error, message } = ANSWERS[code] ?? NOT_HTTP;
  const requestId = newRequestId();
  logger.info({ requestId, method: null, route: null, status, code }, 'request');
  const body = JSON.stringify({ error, message, requestId });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'Pragma: no-cache',
    'Referrer-Policy: no-referrer',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
