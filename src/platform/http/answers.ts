// Response bodies and headers that several endpoints share.

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
 * Responses are not cached, unless a route says otherwise (D23). The flows repeat this in http-answers.ts. No
 * page of the instance sends a referrer (D23).
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
