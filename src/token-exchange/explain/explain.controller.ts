// POST /rest/auth/explain.
import { Post, Req, Res } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { SharedWait } from '../../platform/database/wait-limit.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers, stateOf } from '../../platform/http/http-answers.js';
import { clientOf } from '../../platform/http/throttle/rate-limit.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import { FlowEndpoint } from '../endpoint/flow.endpoints.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { Form } from '../endpoint/form.js';
import { invalidField } from '../refusals/oauth-refusal.js';
import { ExplainService } from './explain.service.js';

@FlowEndpoint('explain')
export class ExplainController {
  constructor(
    private readonly explanations: ExplainService,
    private readonly database: Database,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.explain.path)
  async explain(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const proof = new Form(request.body, { proof: {} }).wellFormed().trimmed('proof');
    if (proof === '') throw invalidField('proof is required');
    const source = { requestId: requestIdOf(request), clientAddress: clientOf(request.ip) };
    const wait = new SharedWait(this.database.waitMs - (stateOf(request).waitedMs ?? 0));
    const body = await this.explanations.explain(proof, source, wait);
    this.answers.reply(request, response, { status: 200, body });
  }
}
