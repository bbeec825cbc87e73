// Describes the endpoints in OpenAPI, as plain values: the host publishes them with its own description. Those of OAuth are beside.
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import {
  EMBED_PATH,
  INTROSPECTION_PATH,
  LOGOUT_PATH,
  REVOCATION_PATH,
  TOKEN_PATH,
  loginMethods,
} from './paths.js';
import { ANSWER_FIELD, ANSWER_PAGE, ANSWER_SESSION } from './form.js';
import {
  COMMON_REFUSALS,
  OAUTH_ERROR,
  TOKEN_EXCHANGE,
  TOKEN_INTROSPECTION,
  TOKEN_REVOCATION,
  answer,
  answerForLater,
  formBody,
} from './oauth.description.js';

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
    [ANSWER_FIELD]: {
      type: 'string',
      enum: [ANSWER_PAGE],
      description:
        'As the script for host pages asks: Location names the user in its fragment, and a refusal is a page instead of JSON.',
    },
  },
};

/** The form of a host with bound sessions. */
const BOUND_FORM = {
  ...FORM,
  properties: {
    ...FORM.properties,
    [ANSWER_FIELD]: {
      ...FORM.properties[ANSWER_FIELD],
      enum: [ANSWER_PAGE, ANSWER_SESSION],
      description:
        `${FORM.properties[ANSWER_FIELD].description} \`${ANSWER_SESSION}\`, for the page in the frame: 200 with a session token that is ` +
        'bound to the key of the DPoP proof, and no cookie. With `Authorization: DPoP` and a session token the login renews that session.',
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

const POST = {
  operationId: 'EmbedLogin_post',
  tags: ['Tokens'],
  summary: 'Sign a browser in, in a frame',
  description: 'Post it from a form in the page that contains the frame.',
  security: [],
  requestBody: formBody(FORM),
  responses: { 303: SIGNED_IN, ...orAsPages({ ...REFUSALS, ...REFUSED_FORMS }) },
};

/** Of a host with bound sessions. */
const BOUND_POST = {
  ...POST,
  parameters: [DPOP],
  requestBody: formBody(BOUND_FORM),
  responses: { ...POST.responses, 200: answer('With answer=session: the session', BOUND_SESSION) },
};

const GET = {
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

/** Each refusal also as the page that a post may ask for. */
function orAsPages(refusals: Readonly<Record<string, ReturnType<typeof answer>>>) {
  const page = { 'text/html': { schema: { type: 'string' } } };
  const described = Object.entries(refusals).map(([status, refusal]) => {
    return [status, { ...refusal, content: { ...refusal.content, ...page } }] as const;
  });
  return Object.fromEntries(described);
}

const LOGOUT_FORM = {
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

const LOGOUT = {
  operationId: 'BackChannelLogout_logOut',
  tags: ['Tokens'],
  summary: 'End sessions and access tokens of a signed-out user (OpenID Connect Back-Channel Logout 1.0)',
  description:
    'For providers and partners. Ends sessions and access tokens of the same issuer: with sid those of one session at the provider, with sub alone all of the user. The logout token is the only credential and works once.',
  security: [],
  requestBody: formBody(LOGOUT_FORM),
  responses: {
    200: { description: 'The sessions and access tokens have ended, now or before; the answer is empty' },
    400: answer('The token or the form is refused: invalid_request', OAUTH_ERROR),
    ...COMMON_REFUSALS,
    429: answerForLater('The address or the issuer made too many requests within a minute'),
    503: answerForLater(
      'The instance cannot reach its database: temporarily_unavailable; send the same token again',
    ),
  },
};

/** Members of `paths` of an OpenAPI document for every endpoint, with the methods that are answered. */
export function endpointDescriptions(
  options: Pick<TokenExchangeOptions, 'strict'> & { readonly hasBoundSessions: boolean },
) {
  const hasGet = loginMethods(options).includes('GET');
  const post = options.hasBoundSessions ? BOUND_POST : POST;
  return {
    [TOKEN_PATH]: { post: TOKEN_EXCHANGE },
    [REVOCATION_PATH]: { post: TOKEN_REVOCATION },
    [INTROSPECTION_PATH]: { post: TOKEN_INTROSPECTION },
    [LOGOUT_PATH]: { post: LOGOUT },
    [EMBED_PATH]: { post, ...(hasGet && { get: GET }) },
  };
}
