// Describes back-channel logout in OpenAPI, as plain values: the host publishes them with its own description.
import { ABSENT, OAUTH_ERROR, answer, answerForLater } from './token-exchange.description.js';
import { LOGOUT_PATH } from './paths.js';

const FORM = {
  type: 'object',
  required: ['logout_token'],
  properties: {
    logout_token: {
      type: 'string',
      minLength: 1,
      description:
        'A signed JWT with iss, aud, iat, jti, sub or sid, and events with the one member http://schemas.openid.net/event/backchannel-logout.',
    },
  },
};

/** Members of `paths` of an OpenAPI document. */
export const LOGOUT_DESCRIPTION = {
  [LOGOUT_PATH]: {
    post: {
      operationId: 'BackChannelLogout_logOut',
      tags: ['Tokens'],
      summary: 'End sessions and access tokens of a signed-out user (OpenID Connect Back-Channel Logout 1.0)',
      description:
        'For providers and partners. Ends sessions and access tokens of the same issuer: with sid those of one session at the provider, with sub alone all of the user. The logout token is the only credential and works once.',
      security: [],
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: FORM } } },
      responses: {
        200: { description: 'The sessions and access tokens have ended, now or before; the answer is empty' },
        400: answer('The token or the form is refused: invalid_request', OAUTH_ERROR),
        404: answer('The licence of the instance has ended', ABSENT),
        413: answer('The body is larger than 256 KiB', OAUTH_ERROR),
        415: answer('The body is not a plain form in UTF-8', OAUTH_ERROR),
        429: answerForLater('The address or the issuer made too many requests within a minute'),
        500: answer('A fault of the instance: server_error', OAUTH_ERROR),
        503: answerForLater(
          'The instance cannot reach its database: temporarily_unavailable; send the same token again',
        ),
      },
    },
  },
};
