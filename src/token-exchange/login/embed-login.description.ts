// Describes embedded login in OpenAPI.
import { ANSWER_FIELD, ANSWER_SESSION } from '../endpoint/form.js';
import { answer, answerForLater, formBody } from '../endpoint/oauth.description.js';

const TOKEN = { type: 'string', minLength: 1 };
const TOKEN_MEANING = 'A new external JWT that lives 60 seconds at most.';
const REDIRECT_MEANING = 'A path on this instance; everything else becomes `/`.';

const FORM = {
  type: 'object',
  required: ['token'],
  properties: {
    token: { ...TOKEN, description: TOKEN_MEANING },
    redirectTo: { type: 'string', description: REDIRECT_MEANING },
    userId: {
      type: 'string',
      description:
        'The user.id of /rest/me whose session is renewed. The token of another user is refused: session_of_another_user.',
    },
  },
};

/** The form of a host with bound sessions. */
const BOUND_FORM = {
  ...FORM,
  properties: {
    ...FORM.properties,
    [ANSWER_FIELD]: {
      type: 'string',
      enum: [ANSWER_SESSION],
      description:
        'For the page in the frame: 200 with a session token that is bound to the key of the DPoP proof, and no cookie. With `Authorization: DPoP` and a session token the login renews that session.',
    },
    hostOrigin: {
      type: 'string',
      description: 'With answer=session, required: the origin of the page that contains the frame.',
    },
  },
};

const BOUND_SESSION = {
  type: 'object',
  required: ['session_token', 'token_type', 'expires_in', 'expires_at', 'user'],
  properties: {
    session_token: {
      type: 'string',
      description: 'Send it as `Authorization: DPoP` with a proof for each call (RFC 9449). Secret.',
    },
    token_type: { type: 'string', enum: ['DPoP'] },
    expires_in: { type: 'integer', description: 'Lifetime of the session in seconds.' },
    expires_at: {
      type: 'string',
      format: 'date-time',
      description: 'When the session ends, unless it is renewed.',
    },
    user: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', description: 'The id of the signed-in user.' } },
    },
  },
};

const DPOP = {
  name: 'DPoP',
  in: 'header',
  required: false,
  description: 'With answer=session, required: a proof of the key that the session is bound to (RFC 9449).',
  schema: { type: 'string' },
};

const ERROR = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'string', description: 'A stable machine word.' },
    message: { type: 'string', description: 'For people.' },
    serverTime: {
      type: 'number',
      description:
        'With invalid_dpop_proof and use_dpop_nonce: the time by which proofs are checked, in seconds since 1970.',
    },
  },
};

const SIGNED_IN = {
  description: 'Signed in; the browser is redirected to the page',
  headers: {
    Location: { description: 'A path on this instance', schema: { type: 'string' } },
    'Set-Cookie': { description: 'The session', schema: { type: 'string' } },
  },
};

const REFUSALS = {
  400: answer('The token is missing, or the form is malformed', ERROR),
  401: answer('The token is refused; the error says why', ERROR),
  404: answer('The licence of the instance has ended', ERROR),
  429: answerForLater(
    'The address made too many requests within a minute, or the issuer sent too many tokens or created too many projects; ' +
      'retry with fresh tokens',
    ERROR,
  ),
  500: answer('A claim is missing or of the wrong type: claims_invalid', ERROR),
  501: answer('Embedded login is switched off', ERROR),
  503: answerForLater(
    'The database does not answer in time, or revocations cannot be read: temporarily_unavailable',
    ERROR,
  ),
  default: answer('Refused in another way', ERROR),
};
const REFUSED_FORMS = {
  413: answer('The body is larger than 256 KiB', ERROR),
  415: answer('The body is not a plain form in UTF-8', ERROR),
};

export const EMBED_POST = {
  operationId: 'EmbedLogin_post',
  tags: ['Tokens'],
  summary: 'Sign a browser in, in a frame',
  description: 'Post it from a form in the page that contains the frame.',
  security: [],
  requestBody: formBody(FORM),
  responses: { 303: SIGNED_IN, ...REFUSALS, ...REFUSED_FORMS },
};

/** Of a host with bound sessions. */
export const BOUND_EMBED_POST = {
  ...EMBED_POST,
  parameters: [DPOP],
  requestBody: formBody(BOUND_FORM),
  responses: { ...EMBED_POST.responses, 200: answer('With answer=session: the session', BOUND_SESSION) },
};

export const EMBED_GET = {
  operationId: 'EmbedLogin_get',
  tags: ['Tokens'],
  summary: 'Sign a browser in by a link',
  description: 'Leaves the token in histories and proxy logs: prefer POST.',
  security: [],
  parameters: [
    { name: 'token', in: 'query', required: true, description: TOKEN_MEANING, schema: TOKEN },
    { name: 'redirectTo', in: 'query', description: REDIRECT_MEANING, schema: { type: 'string' } },
  ],
  responses: { 303: SIGNED_IN, ...REFUSALS, 425: answer('A prefetch; the token is not used up', ERROR) },
};
