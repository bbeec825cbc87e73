// Reads the body of a request, up to one limit for all routes.
import type { IncomingMessage } from 'node:http';

/**
 * Larger than the largest token (64 KiB) by far, so that an over-long token is checked as a token.
 * @rule B.body For all routes alike. See flow.guards.ts and json-body.ts for the 413, in its turn.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;

/** Stands for a body over the limit; the route that reads it refuses the request, after its other checks (D20). */
export const BODY_TOO_LARGE = Symbol('a body over the limit');

/** A body as routes find it; undefined where the request has none. */
export type RequestBody = Buffer | typeof BODY_TOO_LARGE | undefined;

/** The body broke off: its client has disconnected, so the status is for the log. */
class IncompleteBodyError extends Error {
  readonly statusCode = 400;
}

/**
 * Reads a body. Of one that is too large nothing is kept: it resolves at the limit, or at once where the body is declared so.
 * @param declaredBytes what `Content-Length` says; 0 where it says nothing
 * @rule D124 What is left of a body that is too large is read and thrown away, so that its client gets the answer.
 * @throws IncompleteBodyError
 */
export function readBody(stream: IncomingMessage, declaredBytes: number): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  let length = declaredBytes > BODY_LIMIT_BYTES ? declaredBytes : 0;
  return new Promise((resolve, reject) => {
    if (length > 0) resolve(BODY_TOO_LARGE);
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= BODY_LIMIT_BYTES) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve(BODY_TOO_LARGE);
      }
    });
    stream.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('error', () => reject(new IncompleteBodyError('the body broke off')));
  });
}
