// POST /rest/auth/explain.
import { Post, Req, Res, UseGuards } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import {
  AvailableGuard,
  ClockGuard,
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
} from '../endpoint/oauth.description.js';
import { invalidField } from '../refusals/oauth-refusal.js';
import { ExplainService } from './explain.service.js';

const EXPLAIN_FORM = {
  type: 'object',
  required: ['proof'],
  properties: {
    proof: {
      ...{ type: 'string', minLength: 1 },
      description:
        'A JWT by a key of the entry: typ explain+jwt, aud the address of this endpoint, iat at most 60 s ago, its own jti, request_id.',
    },
  },
};

const TOLD_REFUSAL = {
  type: 'object',
  required: ['request_id', 'occurred_at', 'flow', 'check', 'cause', 'remedy'],
  properties: {
    request_id: { type: 'string' },
    occurred_at: { type: 'string', format: 'date-time' },
    flow: { type: 'string' },
    party: { type: 'string', description: 'subject or actor, of an exchange.' },
    reason: { type: 'string', description: 'The code of the cause. Missing if the user is the cause.' },
    check: { type: 'string', description: 'The check that failed.' },
    cause: { type: 'string' },
    remedy: { type: 'string' },
    detail: { type: 'string' },
    expected: { type: 'string', description: 'What the rule requires.' },
    found: { type: 'string', description: 'What came instead.' },
  },
};

export const EXPLANATION = {
  operationId: 'Explain_explain',
  tags: ['Tokens'],
  summary: 'Ask why a token was refused',
  description: 'For partners whose entry lets them (mayExplain). The proof is the only credential.',
  security: [],
  requestBody: formBody(EXPLAIN_FORM),
  responses: {
    200: answer('The refusal, as the operator sees it', TOLD_REFUSAL),
    400: answer('The proof is missing, or the form is malformed: invalid_request', OAUTH_ERROR),
    ...COMMON_REFUSALS,
    404: answer('There is nothing to tell to this key about this id: not_found', OAUTH_ERROR),
    503: answerForLater(
      'The database does not answer in time, or revocations cannot be read: temporarily_unavailable',
    ),
  },
};

@FlowEndpoint('explain')
@UseGuards(
  WaitGuard,
  AvailableGuard,
  throttleGuardOf('explain'),
  FormGuard,
  RevocationsKnownGuard,
  ClockGuard,
)
export class ExplainController {
  constructor(
    private readonly explanations: ExplainService,
    private readonly flows: FlowRunner,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.explain.path)
  async explain(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const proof = new Form(request.body, { proof: {} }).wellFormed().trimmed('proof');
    if (proof === '') throw invalidField('proof is required');
    const body = await this.flows.runOther('explain', request, (received) =>
      this.explanations.explain(proof, received),
    );
    this.answers.reply(request, response, { status: 200, body });
  }
}
