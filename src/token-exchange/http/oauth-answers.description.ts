// What the two endpoints of OAuth have in common in OpenAPI: the shapes of their errors, and how an answer is written.
import { RETRY_AFTER } from '../../platform/http/retry-after.js';

/** RFC 6749 §5.2. */
export const OAUTH_ERROR = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: {
    error: { type: 'string', description: 'A stable machine word (RFC 6749 §5.2).' },
    error_description: { type: 'string', description: 'For people.' },
  },
};

/** Of an endpoint that the host has taken away. */
export const ABSENT = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'string' }, message: { type: 'string' } },
};

export function answer(description: string, schema: object) {
  return { description, content: { 'application/json': { schema } } };
}

/** An answer after which the client is to wait. */
export function answerForLater(description: string) {
  return { ...answer(description, OAUTH_ERROR), headers: RETRY_AFTER };
}
