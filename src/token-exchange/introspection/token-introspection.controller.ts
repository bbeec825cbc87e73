// POST /rest/auth/oauth/introspect (RFC 7662).
import { Post, Req, Res, UseGuards } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import { CLIENT_FIELDS, readClientCredentials } from '../assertions/client-authenticator.js';
import {
  AvailableGuard,
  ClockGuard,
  enabledGuardOf,
  FlowEndpoint,
  FormGuard,
  RevocationsKnownGuard,
  throttleGuardOf,
  WaitGuard,
} from '../endpoint/flow.endpoints.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { Form } from '../endpoint/form.js';
import {
  answer,
  answerForLater,
  COMMON_REFUSALS,
  formBody,
  OAUTH_ERROR,
  SWITCHED_OFF,
} from '../endpoint/oauth.description.js';
import { requestRefusal } from '../refusals/oauth-refusal.js';
import { REVOCATION_FORM } from '../revocation/token-revocation.description.js';
import type { IntrospectionRequest } from './introspection.service.js';
import { IntrospectionService } from './introspection.service.js';

/** RFC 7662 §2.1. */
const INTROSPECTION_FORM = {
  ...REVOCATION_FORM,
  properties: {
    ...REVOCATION_FORM.properties,
    token: { type: 'string', minLength: 1, description: 'The access token to introspect.' },
  },
};

/** RFC 7662 §2.2. */
const INTROSPECTION = {
  type: 'object',
  required: ['active'],
  properties: {
    active: {
      type: 'boolean',
      description: 'Whether the token is valid now. If false, the response has no other property.',
    },
    ...Object.fromEntries(
      ['scope', 'client_id', 'sub', 'aud', 'iss', 'jti'].map((name) => [name, { type: 'string' }]),
    ),
    act: { type: 'object', description: 'The actor (RFC 8693).' },
    iat: { type: 'integer' },
    exp: { type: 'integer' },
  },
};

export const TOKEN_INTROSPECTION = {
  operationId: 'TokenIntrospection_introspect',
  tags: ['Tokens'],
  summary: 'Introspect an access token (RFC 7662)',
  description:
    'A client of a trusted key entry may introspect its own tokens, and tokens for a service of the entry, if the entry ' +
    'allows it. Every other token is reported as inactive.',
  security: [],
  requestBody: formBody(INTROSPECTION_FORM),
  responses: {
    200: answer('The state of the token, and its claims if it is active', INTROSPECTION),
    400: answer('The token is missing, or the form is malformed: invalid_request', OAUTH_ERROR),
    401: answer('The client has not authenticated: invalid_client', OAUTH_ERROR),
    403: answer('No entry allows the client to introspect: unauthorized_client', OAUTH_ERROR),
    ...COMMON_REFUSALS,
    ...SWITCHED_OFF,
    503: answerForLater(
      'The database does not answer in time, or revocations cannot be read: temporarily_unavailable',
    ),
  },
};

/**
 * Reads the token and the client's credentials. Other fields are ignored, also `token_type_hint`, because there is only one type.
 * @throws OAuthRefusal `token_missing`, `field_invalid` or `client_credential_invalid`
 */
function readIntrospectionForm({ body, headers }: HttpRequest): IntrospectionRequest {
  const form = new Form(body, { token: {}, ...CLIENT_FIELDS }).wellFormed();
  const token = form.trimmed('token');
  if (token === '') throw requestRefusal('token_missing', 'token is required');
  return { token, client: readClientCredentials(form, headers.authorization) };
}

@FlowEndpoint('introspection')
@UseGuards(
  WaitGuard,
  AvailableGuard,
  throttleGuardOf('introspection'),
  enabledGuardOf('introspection'),
  FormGuard,
  RevocationsKnownGuard,
  ClockGuard,
)
export class TokenIntrospectionController {
  constructor(
    private readonly introspections: IntrospectionService,
    private readonly flows: FlowRunner,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.introspection.path)
  async introspect(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const body = await this.flows.runOther('introspection', request, async (received) =>
      this.introspections.introspect(readIntrospectionForm(request), received),
    );
    this.answers.reply(request, response, { status: 200, body });
  }
}
