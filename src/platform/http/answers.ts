// Bodies and headers that several places must answer alike.

/**
 * @rule D23 Every 404 has this body: nothing of the request is echoed. See log/logger.ts and server.ts for what log lines
 * leave out, error.filter.ts for other errors.
 */
export const NOT_FOUND = { error: 'not_found', message: 'Not found' } as const;

/** Of what cannot be read as a request: nothing of it is echoed either. */
export const UNREADABLE = { error: 'bad_request', message: 'The request cannot be read' } as const;
export const HEADERS_TOO_LARGE = {
  error: 'headers_too_large',
  message: 'The request headers are too large',
} as const;

/** The answer for a fault of the service; the log has the rest under the same request id. */
export const INTERNAL_ERROR_MESSAGE = 'Internal error';

/** For a 415 because of the content coding, and only then (RFC 9110 §12.5.3). */
export const ACCEPTED_CODING = { 'accept-encoding': 'identity' } as const;
export const CODING_MESSAGE = 'The body must not have a Content-Encoding';

/**
 * Answers are not stored, unless a route says otherwise; those of the flows say it again (D23,
 * http-answers.ts). No page of the instance sends a referrer (D23).
 */
export const COMMON_HEADERS = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'referrer-policy': 'no-referrer',
} as const;

/** How long caches keep what is published for everyone, in seconds. */
export const PUBLISHED_MAX_AGE_SECONDS = 3_600;

/** For answers that no route made: it is unknown for which page they were meant (D111). */
export const UNFRAMED_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
} as const;
