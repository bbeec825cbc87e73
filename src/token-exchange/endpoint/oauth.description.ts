// Shared parts of the endpoints' OpenAPI descriptions, as plain values.
import { RETRY_AFTER } from '../../platform/http/temporarily-unavailable.exception.js';

/** RFC 6749 §5.2. */
export const OAUTH_ERROR = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: {
    error: { type: 'string', description: 'A stable machine word (RFC 6749 §5.2).' },
    error_description: { type: 'string', description: 'For people.' },
  },
};

/** The answer of an endpoint that the host does not offer. */
const ABSENT = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'string' }, message: { type: 'string' } },
};

export function answer(description: string, schema: object) {
  return { description, content: { 'application/json': { schema } } };
}

/** An answer with `Retry-After`. */
export function answerForLater(description: string, schema: object = OAUTH_ERROR) {
  return { ...answer(description, schema), headers: RETRY_AFTER };
}

/** The common answers of these endpoints. */
export const COMMON_REFUSALS = {
  404: answer('The licence of the instance has ended', ABSENT),
  413: answer('The body is larger than 256 KiB', OAUTH_ERROR),
  415: answer('The body is not a plain form in UTF-8', OAUTH_ERROR),
  429: answerForLater('The address made too many requests within a minute'),
  500: answer('Internal error: server_error', OAUTH_ERROR),
};
export const SWITCHED_OFF = { 501: answer('Token exchange is switched off', OAUTH_ERROR) };

export function formBody(schema: object) {
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema } } };
}

/** The credentials of a client. */
export const CLIENT_FIELDS = {
  client_id: {
    type: 'string',
    description: 'Needed with a secret in the form; other credentials contain it.',
  },
  client_secret: { type: 'string', description: 'Or by the Basic scheme (client_secret_basic).' },
  client_assertion_type: {
    type: 'string',
    enum: ['urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
  },
  client_assertion: { type: 'string', description: 'A JWT of the client, instead of its secret.' },
};
