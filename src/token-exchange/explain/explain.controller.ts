// POST /rest/auth/explain.
import { Post, Req, Res } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { FlowEndpoint } from '../endpoint/flow.endpoints.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { Form } from '../endpoint/form.js';
import { invalidField } from '../refusals/oauth-refusal.js';
import { ExplainService } from './explain.service.js';

@FlowEndpoint('explain')
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
