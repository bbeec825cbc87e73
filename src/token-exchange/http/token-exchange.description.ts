// Describes the token endpoint in OpenAPI, as plain values: the host publishes them with its own description.
import { ABSENT, OAUTH_ERROR, answer, answerForLater } from './oauth-answers.description.js';
import { TOKEN_PATH } from './paths.js';
import { FIELD_LIMITS, TOKEN_EXCHANGE_GRANT } from './token-exchange.form.js';

const JWT = { type: 'string', minLength: 1 };
const IGNORED = { type: 'string', description: 'Ignored.' };

const FORM = {
  type: 'object',
  required: ['grant_type', 'subject_token'],
  properties: {
    grant_type: { type: 'string', enum: [TOKEN_EXCHANGE_GRANT] },
    subject_token: { ...JWT, description: 'The external JWT of the end user, fresh: each is taken once.' },
    subject_token_type: IGNORED,
    actor_token: {
      ...JWT,
      description:
        'The external JWT of the acting party, whose rights then count, with `rights: both` in an entry beside the subject’s.',
    },
    actor_token_type: IGNORED,
    requested_token_type: IGNORED,
    scope: limited(
      'scope',
      'Recorded. Granted and enforced only where the entry of the key lists `scopes`: then what it does not list is left out.',
    ),
    resource: limited(
      'resource',
      'URIs with spaces between them; recorded. Where the entry of the key lists `resources`, one of them becomes the audience.',
    ),
    audience: limited('audience', 'Ignored.'),
  },
};

const SUCCESS = {
  type: 'object',
  required: ['access_token', 'token_type', 'expires_in', 'issued_token_type'],
  properties: {
    access_token: { type: 'string', description: 'A JWT (RFC 9068), to be presented as a Bearer.' },
    token_type: { type: 'string', enum: ['Bearer'] },
    expires_in: { type: 'integer', minimum: 5, description: 'Seconds for which the token is to be kept.' },
    issued_token_type: { type: 'string', enum: ['urn:ietf:params:oauth:token-type:access_token'] },
    scope: { type: 'string', description: 'The granted scopes, where the entry of the key lists `scopes`.' },
  },
};

/** Members of `paths` of an OpenAPI document. */
export const TOKEN_EXCHANGE_DESCRIPTION = {
  [TOKEN_PATH]: {
    post: {
      operationId: 'TokenExchange_exchange',
      tags: ['Tokens'],
      summary: 'Exchange an external JWT for an access token (RFC 8693)',
      description: 'The external JWT is the only credential: authentication of a client is ignored.',
      security: [],
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: FORM } } },
      responses: {
        200: answer('An access token', SUCCESS),
        400: answer(
          'The request, or a token in it, is refused: invalid_request, unsupported_grant_type, invalid_grant, invalid_scope, invalid_target',
          OAUTH_ERROR,
        ),
        404: answer('The instance has no licence for it any more', ABSENT),
        413: answer('The body is larger than 256 KiB', OAUTH_ERROR),
        415: answer('The body is no plain form in UTF-8', OAUTH_ERROR),
        429: answerForLater(
          'The address made too many requests within a minute, or the issuer too many tokens: these stay good',
        ),
        500: answer('A fault of the instance: server_error', OAUTH_ERROR),
        501: answer('Token exchange is switched off', OAUTH_ERROR),
        503: answerForLater(
          'The database cannot serve it in time, or what was revoked cannot be told: temporarily_unavailable; retry with fresh tokens',
        ),
      },
    },
  },
};

function limited(name: keyof typeof FIELD_LIMITS, description: string) {
  return { type: 'string', maxLength: FIELD_LIMITS[name], description };
}
