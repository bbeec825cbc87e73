// POST /rest/auth/events (RFC 8935).
import { Post, Req, Res } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { SharedWait } from '../../platform/database/wait-limit.js';
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { HttpAnswers, stateOf } from '../../platform/http/http-answers.js';
import { clientOf } from '../../platform/http/throttle/rate-limit.js';
import { requestIdOf } from '../../platform/log/request-id.js';
import { FlowEndpoint } from '../endpoint/flow.endpoints.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { SignalsService } from './signals.service.js';

@FlowEndpoint('signals')
export class EventsController {
  constructor(
    private readonly signals: SignalsService,
    private readonly database: Database,
    private readonly answers: HttpAnswers,
  ) {}

  @Post(ENDPOINTS.signals.path)
  async receive(@Req() request: HttpRequest, @Res() response: object): Promise<void> {
    const { body, headers } = request;
    const sent = { text: typeof body === 'string' ? body.trim() : '', authorization: headers.authorization };
    const source = { requestId: requestIdOf(request), clientAddress: clientOf(request.ip) };
    const wait = new SharedWait(this.database.waitMs - (stateOf(request).waitedMs ?? 0));
    await this.signals.receive(sent, source, wait);
    this.answers.reply(request, response, { status: 202 });
  }
}
