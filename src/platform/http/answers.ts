// Bodies that several places must answer with the same bytes.

/**
 * @rule D23 Every 404 has this body: nothing of the request is echoed. See logging/logger.ts and server.ts for what log lines
 * leave out, error.filter.ts for other errors.
 */
export const NOT_FOUND = { error: 'not_found', message: 'Not found' } as const;

/** The answer for a fault of the service; the log has the rest under the same request id. */
export const INTERNAL_ERROR_MESSAGE = 'Internal error';

/** What a 415 says where the content coding is its reason, and only there (RFC 9110 §12.5.3). */
export const ACCEPTED_CODING = { 'accept-encoding': 'identity' } as const;
export const CODING_MESSAGE = 'The body must not have a Content-Encoding';
