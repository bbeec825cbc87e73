// POST /rest/auth/events (RFC 8935).
import { Post, Req, Res } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers } from '../../platform/http/http-answers.js';
import { FlowEndpoint } from '../endpoint/flow.endpoints.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { SignalsService } from './signals.service.js';

@FlowEndpoint('signals')
export class EventsController {
  constructor(
    private readonly signals: SignalsService,
    private readonly flows: FlowRunner,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.signals.path)
  async receive(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const { body, headers } = request;
    const sent = { text: typeof body === 'string' ? body.trim() : '', authorization: headers.authorization };
    await this.flows.runOther('signals', request, (received) => this.signals.receive(sent, received));
    this.answers.reply(request, response, { status: 202 });
  }
}
