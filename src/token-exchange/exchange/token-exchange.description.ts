// Describes the token endpoint in OpenAPI.
import { MAX_PROOF_CHARACTERS } from '../dpop/proof-checks.js';
import {
  answer,
  answerForLater,
  CLIENT_FIELDS,
  COMMON_REFUSALS,
  formBody,
  OAUTH_ERROR,
  SWITCHED_OFF,
} from '../endpoint/oauth.description.js';
import { FIELD_LIMITS } from '../verify/compact-jws.js';
import { JWT_BEARER_GRANT, TOKEN_EXCHANGE_GRANT } from './token-exchange.form.js';

const JWT = { type: 'string', minLength: 1 };
const IGNORED = { type: 'string', description: 'Ignored.' };

function limited(name: keyof typeof FIELD_LIMITS, description: string) {
  return { type: 'string', maxLength: FIELD_LIMITS[name], description };
}

const FORM = {
  type: 'object',
  required: ['grant_type', 'subject_token'],
  properties: {
    grant_type: { type: 'string', enum: [TOKEN_EXCHANGE_GRANT] },
    subject_token: { ...JWT, description: 'A new external JWT of the end user; each is accepted once.' },
    subject_token_type: IGNORED,
    actor_token: {
      ...JWT,
      description:
        'The external JWT of the actor, whose rights then count, with `rights: both` in an entry together with those of the subject.',
    },
    actor_token_type: IGNORED,
    requested_token_type: IGNORED,
    scope: limited(
      'scope',
      'Recorded. Granted and enforced only if the entry of the key lists `scopes`; others are left out.',
    ),
    resource: limited(
      'resource',
      'URIs separated by spaces; recorded. If the entry of the key lists `resources`, one of them becomes the audience.',
    ),
    audience: limited('audience', 'Ignored.'),
  },
};

const ASSERTION_FORM = {
  type: 'object',
  required: ['grant_type', 'assertion'],
  properties: {
    grant_type: { type: 'string', enum: [JWT_BEARER_GRANT] },
    assertion: {
      ...JWT,
      description: 'A new identity assertion (ID-JAG) or external JWT; each is accepted once.',
    },
    scope: limited('scope', 'Narrows what an identity assertion grants; else as in a token exchange.'),
    resource: limited(
      'resource',
      'One of those that an identity assertion names, or the instance; else as in a token exchange.',
    ),
    ...CLIENT_FIELDS,
  },
};

const ACCESS_TOKEN = {
  access_token: {
    type: 'string',
    description: 'A JWT (RFC 9068), to be presented by the scheme of `token_type`.',
  },
  token_type: { type: 'string', enum: ['Bearer', 'DPoP'], description: '`DPoP` where a proof was sent.' },
  expires_in: { type: 'integer', minimum: 5, description: 'Seconds for which the token may be kept.' },
};

const SUCCESS = {
  type: 'object',
  required: ['access_token', 'token_type', 'expires_in', 'issued_token_type'],
  properties: {
    ...ACCESS_TOKEN,
    issued_token_type: { type: 'string', enum: ['urn:ietf:params:oauth:token-type:access_token'] },
    scope: { type: 'string', description: 'The granted scopes, if the entry of the key lists `scopes`.' },
  },
};

const ASSERTION_SUCCESS = {
  type: 'object',
  required: ['access_token', 'token_type', 'expires_in'],
  properties: {
    ...ACCESS_TOKEN,
    scope: { type: 'string', description: 'The granted scopes, if assertion or entry limits them.' },
    resource: {
      type: 'string',
      description: 'The service that the token is for, if assertion or client named one.',
    },
  },
};

const PROOF = {
  name: 'DPoP',
  in: 'header',
  required: false,
  description: 'A proof of the key that the access token is bound to then (RFC 9449).',
  schema: { type: 'string', maxLength: MAX_PROOF_CHARACTERS },
};

export const TOKEN_EXCHANGE = {
  operationId: 'TokenExchange_exchange',
  tags: ['Tokens'],
  summary: 'Exchange an external JWT for an access token (RFC 8693, RFC 7523)',
  description:
    'In a token exchange the external JWT is the only credential: authentication of a client is ignored. Identity assertions, which ' +
    'are off by default, need a client that authenticates; for other assertions credentials are optional, and must be right.',
  security: [],
  parameters: [PROOF],
  requestBody: formBody({ oneOf: [FORM, ASSERTION_FORM] }),
  responses: {
    200: answer('An access token', { anyOf: [SUCCESS, ASSERTION_SUCCESS] }),
    400: answer(
      'The request, or a token or proof in it, is refused: invalid_request, unsupported_grant_type, invalid_grant, invalid_scope, ' +
        'invalid_target, invalid_dpop_proof, use_dpop_nonce (with DPoP-Nonce)',
      OAUTH_ERROR,
    ),
    401: answer('The client of an assertion has not authenticated: invalid_client', OAUTH_ERROR),
    ...COMMON_REFUSALS,
    429: answerForLater(
      'The address made too many requests within a minute, or the issuer sent too many tokens or created too many projects; ' +
        'retry with fresh tokens',
    ),
    ...SWITCHED_OFF,
    503: answerForLater(
      'The database does not answer in time, or revocations cannot be read: temporarily_unavailable; retry with fresh tokens',
    ),
  },
};
