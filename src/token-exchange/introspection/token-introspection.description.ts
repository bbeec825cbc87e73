// Describes token introspection in OpenAPI.
import {
  COMMON_REFUSALS,
  OAUTH_ERROR,
  SWITCHED_OFF,
  answer,
  answerForLater,
  formBody,
} from '../endpoint/oauth.description.js';
import { REVOCATION_FORM } from '../revocation/token-revocation.description.js';

/** RFC 7662 §2.1. */
const INTROSPECTION_FORM = {
  ...REVOCATION_FORM,
  properties: {
    ...REVOCATION_FORM.properties,
    token: { type: 'string', minLength: 1, description: 'The access token to ask about.' },
  },
};

/** RFC 7662 §2.2. */
const INTROSPECTION = {
  type: 'object',
  required: ['active'],
  properties: {
    active: {
      type: 'boolean',
      description: 'Whether the token is good at this moment; else nothing more is said.',
    },
    ...Object.fromEntries(
      ['scope', 'client_id', 'sub', 'aud', 'iss', 'jti'].map((name) => [name, { type: 'string' }]),
    ),
    act: { type: 'object', description: 'Who acts for the subject (RFC 8693).' },
    iat: { type: 'integer' },
    exp: { type: 'integer' },
  },
};

export const TOKEN_INTROSPECTION = {
  operationId: 'TokenIntrospection_introspect',
  tags: ['Tokens'],
  summary: 'Ask whether an access token is good at this moment (RFC 7662)',
  description:
    'For clients whose entry lets them: about their own tokens, and those for a service of the entry. Of every other token ' +
    'the answer is that it is not active.',
  security: [],
  requestBody: formBody(INTROSPECTION_FORM),
  responses: {
    200: answer('What may be said of the token', INTROSPECTION),
    400: answer('The token is missing, or the form is malformed: invalid_request', OAUTH_ERROR),
    401: answer('The client has not authenticated: invalid_client', OAUTH_ERROR),
    403: answer('No entry lets the client introspect: unauthorized_client', OAUTH_ERROR),
    ...COMMON_REFUSALS,
    ...SWITCHED_OFF,
    503: answerForLater(
      'The database does not answer in time, or revocations cannot be read: temporarily_unavailable',
    ),
  },
};
