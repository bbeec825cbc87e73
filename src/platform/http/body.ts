// Reads the body of a request, up to one limit for all routes.
import type { IncomingMessage } from 'node:http';
import { lingerAfterAnswer } from './lingering-close.js';

/**
 * Larger than the largest token (64 KiB) by far, so that an over-long token is judged as a token.
 * @rule B.body For all routes alike. See flow.guards.ts and json-body.ts for the 413, in its turn.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;
/** So much of a body that is declared too large is taken before the answer, so that its client comes to read that. */
const DRAINED_BYTES = 64 * 1024;

/** Stands for a body over the limit: whoever wants it refuses the request, in its turn (D20). */
export const BODY_TOO_LARGE = Symbol('a body over the limit');

/** A body as routes find it; undefined where the request has none. */
export type RequestBody = Buffer | typeof BODY_TOO_LARGE | undefined;

/** The body broke off: its client has gone, so the status is for the log. */
class IncompleteBodyError extends Error {
  readonly statusCode = 400;
}

/**
 * Reads a body. Of one that is too large nothing is kept: if it is declared so it is refused after 64 KiB, else at the
 * limit, and what still comes is thrown away. The answer is to say that it is the connection's last.
 * @param declaredBytes what `Content-Length` says; 0 where it says nothing
 * @throws IncompleteBodyError
 */
export function readBody(stream: IncomingMessage, declaredBytes: number): Promise<RequestBody> {
  const isWanted = declaredBytes <= BODY_LIMIT_BYTES;
  const limit = isWanted ? BODY_LIMIT_BYTES : DRAINED_BYTES;
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        chunks.length = 0;
        lingerAfterAnswer(stream);
        resolve(BODY_TOO_LARGE);
      } else if (isWanted) chunks.push(chunk);
    });
    stream.on('end', () => resolve(isWanted ? Buffer.concat(chunks) : BODY_TOO_LARGE));
    stream.on('error', () => reject(new IncompleteBodyError('the body broke off')));
  });
}
