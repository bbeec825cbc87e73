// Describes token revocation in OpenAPI.
import {
  answer,
  answerForLater,
  CLIENT_FIELDS,
  COMMON_REFUSALS,
  formBody,
  OAUTH_ERROR,
  SWITCHED_OFF,
} from '../endpoint/oauth.description.js';

/** RFC 7009 §2.1. */
export const REVOCATION_FORM = {
  type: 'object',
  required: ['token'],
  properties: {
    token: { type: 'string', minLength: 1, description: 'The access token to end.' },
    token_type_hint: { type: 'string', description: 'Ignored.' },
    ...CLIENT_FIELDS,
  },
};

export const TOKEN_REVOCATION = {
  operationId: 'TokenRevocation_revoke',
  tags: ['Tokens'],
  summary: 'End an access token before its time (RFC 7009)',
  description:
    'Holding the token is the only credential, unless a client has authenticated to get it: then that client authenticates here, too. Services that verify with the published keys alone do not learn of it.',
  security: [],
  requestBody: formBody(REVOCATION_FORM),
  responses: {
    200: answer('The token is not valid any longer, or never was: ended, expired, or of another instance', {
      type: 'object',
    }),
    400: answer('The token is missing, or the form is malformed: invalid_request', OAUTH_ERROR),
    401: answer('The client of the token has not authenticated: invalid_client', OAUTH_ERROR),
    ...COMMON_REFUSALS,
    ...SWITCHED_OFF,
    503: answerForLater(
      'The instance cannot reach its database: temporarily_unavailable; the token may still be valid',
    ),
  },
};
