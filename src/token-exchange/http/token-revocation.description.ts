// Describes token revocation in OpenAPI, as plain values: the host publishes them with its own description.
import { ABSENT, OAUTH_ERROR, answer, answerForLater } from './token-exchange.description.js';
import { REVOCATION_PATH } from './paths.js';

const FORM = {
  type: 'object',
  required: ['token'],
  properties: {
    token: { type: 'string', minLength: 1, description: 'The access token to end.' },
    token_type_hint: { type: 'string', description: 'Ignored.' },
  },
};

/** Members of `paths` of an OpenAPI document. */
export const TOKEN_REVOCATION_DESCRIPTION = {
  [REVOCATION_PATH]: {
    post: {
      operationId: 'TokenRevocation_revoke',
      tags: ['Tokens'],
      summary: 'End an access token before its time (RFC 7009)',
      description:
        'Holding the token is the only credential. Services that verify with the published keys alone do not learn of it.',
      security: [],
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: FORM } } },
      responses: {
        200: {
          description:
            'The token is not valid any longer, or never was: ended, expired, or of another instance',
        },
        400: answer('The token is missing, or the form is malformed: invalid_request', OAUTH_ERROR),
        404: answer('The licence of the instance has ended', ABSENT),
        413: answer('The body is larger than 256 KiB', OAUTH_ERROR),
        415: answer('The body is not a plain form in UTF-8', OAUTH_ERROR),
        429: answerForLater('The address made too many requests within a minute'),
        500: answer('A fault of the instance: server_error', OAUTH_ERROR),
        501: answer('Token exchange is switched off', OAUTH_ERROR),
        503: answerForLater(
          'The instance cannot reach its database: temporarily_unavailable; the token may still be valid',
        ),
      },
    },
  },
};
