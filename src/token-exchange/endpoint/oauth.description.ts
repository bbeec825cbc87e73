// Describes the OAuth endpoints in OpenAPI, as plain values: the host publishes them with its own description, if it has one.
import { MAX_PROOF_CHARACTERS } from '../dpop/proof-checks.js';
import { FIELD_LIMITS } from '../verify/compact-jws.js';
import { JWT_BEARER_GRANT, TOKEN_EXCHANGE_GRANT } from '../exchange/token-exchange.form.js';
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

/** Of an endpoint that the host has taken away. */
const ABSENT = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'string' }, message: { type: 'string' } },
};

export function answer(description: string, schema: object) {
  return { description, content: { 'application/json': { schema } } };
}

/** An answer after which the client is to wait. */
export function answerForLater(description: string, schema: object = OAUTH_ERROR) {
  return { ...answer(description, schema), headers: RETRY_AFTER };
}

/** What these endpoints answer alike, unless they say otherwise. */
export const COMMON_REFUSALS = {
  404: answer('The licence of the instance has ended', ABSENT),
  413: answer('The body is larger than 256 KiB', OAUTH_ERROR),
  415: answer('The body is not a plain form in UTF-8', OAUTH_ERROR),
  429: answerForLater('The address made too many requests within a minute'),
  500: answer('A fault of the instance: server_error', OAUTH_ERROR),
};
const SWITCHED_OFF = { 501: answer('Token exchange is switched off', OAUTH_ERROR) };

export function formBody(schema: object) {
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema } } };
}

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

const CLIENT_FIELDS = {
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

/** RFC 7009 §2.1. */
const REVOCATION_FORM = {
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
