// The OpenAPI description of sign-in state and sign-out, as plain values: the workspace publishes them with
// its own.
import { RETRY_AFTER } from '../platform/http/temporarily-unavailable.exception.js';

const TEXT = (description: string) => ({ type: 'string', description });
const INSTANT = (description: string) => ({ ...TEXT(description), format: 'date-time' });

const USER = {
  type: 'object',
  required: ['id', 'email', 'givenName', 'familyName', 'role'],
  properties: {
    id: { ...TEXT('Id.'), format: 'uuid' },
    email: TEXT('E-mail address.'),
    givenName: TEXT('Given name; may be empty.'),
    familyName: TEXT('Family name; may be empty.'),
    role: { ...TEXT('Global role.'), enum: ['global:owner', 'global:admin', 'global:member'] },
  },
};

const ME = {
  type: 'object',
  required: [
    'user',
    'onBehalfOf',
    'delegatedRights',
    'authentication',
    'scopes',
    'expiresAt',
    'expiresInSeconds',
    'hostOrigin',
  ],
  properties: {
    user: { ...USER, description: 'The acting user: the actor of an access token if it has one.' },
    onBehalfOf: { oneOf: [USER, { type: 'null' }], description: 'With an actor: the subject.' },
    delegatedRights: {
      oneOf: [{ type: 'string', enum: ['actor', 'both'] }, { type: 'null' }],
      description:
        'With an actor: whether its own rights count, or a call needs those of actor and subject alike.',
    },
    authentication: { ...TEXT('By what the request was let in.'), enum: ['session', 'access_token'] },
    scopes: {
      oneOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
      description: 'The scopes that an access token is limited to; null if it is not limited.',
    },
    expiresAt: INSTANT('When the session or token ends.'),
    expiresInSeconds: { type: 'integer', description: 'Whole seconds until then.' },
    hostOrigin: {
      oneOf: [{ type: 'string' }, { type: 'null' }],
      description: 'The origin of the page that posted the login of a session.',
    },
  },
  example: {
    user: {
      id: '0190163d-8694-739b-aea5-966c26f8ad91',
      email: 'ada@partner.example',
      givenName: 'Ada',
      familyName: 'Lovelace',
      role: 'global:member',
    },
    onBehalfOf: null,
    delegatedRights: null,
    authentication: 'access_token',
    scopes: ['workflow:read'],
    expiresAt: '2026-01-31T12:00:00.000Z',
    expiresInSeconds: 300,
    hostOrigin: null,
  },
};

/** A schema of the workspace's description. */
const ERROR = { $ref: '#/components/schemas/ErrorAnswer' };

const SECURITY = [{ bearer: [] }, { session: [] }];
const REFUSALS = {
  401: {
    ...answer('No valid access token or session', ERROR),
    headers: { 'WWW-Authenticate': { description: 'RFC 6750, RFC 9449', schema: { type: 'string' } } },
  },
  409: answer(
    'X-Session-User does not name the user of the session (session_of_another_user); the session continues',
    ERROR,
  ),
  503: {
    ...answer(
      'The database cannot serve it in time, or revocations cannot be read at present (temporarily_unavailable)',
      ERROR,
    ),
    headers: RETRY_AFTER,
  },
};
const SESSION_USER = {
  name: 'X-Session-User',
  in: 'header',
  required: false,
  description: 'Id of the user whose session is meant. Proves nothing; without a session it is ignored.',
  schema: { type: 'string', format: 'uuid' },
};

const EVERYWHERE = {
  name: 'everywhere',
  in: 'query',
  required: false,
  description:
    'With a bound session: end all bound sessions of the user that pages of the same host origin opened.',
  schema: { type: 'boolean', enum: [true] },
};

/** Entries for `paths` of an OpenAPI document. */
export const SESSION_DESCRIPTION = {
  '/rest/me': {
    get: {
      operationId: 'Session_me',
      tags: ['Session'],
      summary: 'Show who is signed in',
      description: 'By session or access token.',
      security: SECURITY,
      parameters: [SESSION_USER],
      responses: { 200: answer('Who is signed in, and until when', ME), ...REFUSALS },
    },
  },
  '/rest/auth/logout': {
    post: {
      operationId: 'Session_logout',
      tags: ['Session'],
      summary: 'End the session',
      description:
        "With all that it was renewed from; clears the cookie, and needs the instance's own Origin where a cookie carries the session. With an access token it does nothing.",
      security: SECURITY,
      parameters: [SESSION_USER, EVERYWHERE],
      responses: {
        400: answer('everywhere has another value than true (bad_request)', ERROR),
        204: { description: 'Done; the answer is empty' },
        ...REFUSALS,
        403: answer('A session, and a request from elsewhere (csrf_refused)', ERROR),
      },
    },
  },
};

function answer(description: string, schema: object) {
  return { description, content: { 'application/json': { schema } } };
}
