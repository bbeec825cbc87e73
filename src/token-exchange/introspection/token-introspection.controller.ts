// POST /rest/auth/oauth/introspect (RFC 7662).
import { Post, Req, Res } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import type { Introspected } from './introspection.service.js';
import { IntrospectionService } from './introspection.service.js';
import { CLIENT_FIELDS, readClientCredentials } from '../assertions/client-credentials.js';
import { FlowEndpoint } from '../endpoint/flow.endpoints.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { requestRefusal } from '../refusals/oauth-refusal.js';
import { Form } from '../endpoint/form.js';
import { ENDPOINTS } from '../endpoint/flows.js';

/**
 * Reads the token and the client's credentials. `token_type_hint` is ignored, because there is one type only, and so is every
 * other field.
 * @throws OAuthRefusal `token_missing` or `field_invalid`
 * @throws OAuthRefusal `client_credential_invalid`
 */
function readIntrospectionForm({ body, headers }: HttpRequest): Introspected {
  const form = new Form(body, { token: {}, ...CLIENT_FIELDS }).wellFormed();
  const token = form.trimmed('token');
  if (token === '') throw requestRefusal('token_missing', 'token is required');
  return { token, client: readClientCredentials(form, headers.authorization) };
}

@FlowEndpoint('introspection')
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
