// Answers input that never becomes a request: input that is not HTTP, headers that are too large, clients that are too slow.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import {
  COMMON_HEADERS,
  HEADERS_TOO_LARGE,
  newRequestId,
  UNFRAMED_HEADERS,
  UNREADABLE,
} from './http-messages.js';

const TOO_SLOW = { error: 'request_timeout', message: 'The request took too long to arrive' };
/** Responses by Node.js's error code; any other error means that the input is not HTTP. */
const ANSWERS: Readonly<Record<string, { status: number; error: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, ...HEADERS_TOO_LARGE },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, ...TOO_SLOW },
};

/**
 * Answers on the raw connection with the usual headers and body (D21–D23), and closes it. The log has the
 * request id and Node.js's error code, but nothing that the client sent.
 */
export function answerUnreadableRequest(
  logger: Logger,
  { code = '' }: { code?: string },
  socket: Socket,
): void {
  // The client has disconnected, or already gets a response.
  if (code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const { status, error, message } = ANSWERS[code] ?? { status: 400, ...UNREADABLE };
  const requestId = newRequestId();
  logger.info({ requestId, method: null, route: null, status, code }, 'request');
  const body = JSON.stringify({ error, message, requestId });
  const headers = {
    'x-request-id': requestId,
    ...COMMON_HEADERS,
    ...UNFRAMED_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
