// POST /rest/auth/events (RFC 8935).
import { Post, Req, Res, UseGuards } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { HttpAnswers } from '../../platform/http/http-messages.js';
import {
  AvailableGuard,
  ClockGuard,
  FlowEndpoint,
  RevocationsKnownGuard,
  throttleGuardOf,
  WaitGuard,
} from '../endpoint/flow.endpoints.js';
import { FlowRunner } from '../endpoint/flow.runner.js';
import { ENDPOINTS } from '../endpoint/flows.js';
import { answer, answerForLater, COMMON_REFUSALS } from '../endpoint/oauth.description.js';
import { EVENT_MEDIA_TYPE, EventGuard } from './event.guard.js';
import { SignalsService } from './signals.service.js';

/** RFC 8935 §2.4. */
const EVENT_ERROR = {
  type: 'object',
  required: ['err', 'description'],
  properties: {
    err: { type: 'string', description: 'A code of RFC 8935 §2.4 for a refused token.' },
    description: { type: 'string', description: 'For people.' },
  },
};

export const RECEIVED_EVENTS = {
  operationId: 'Events_receive',
  tags: ['Tokens'],
  summary: 'Receive a security event of a company (RFC 8935)',
  description:
    'For transmitters of the OpenID Shared Signals Framework. `Authorization: Bearer` has the secret of the transmitter. A repeated token has no further effect.',
  security: [],
  requestBody: {
    required: true,
    content: { [EVENT_MEDIA_TYPE]: { schema: { type: 'string', minLength: 1 } } },
  },
  responses: {
    202: { description: 'The event is accepted and applied; the answer is empty' },
    400: answer('The transmitter or its token is refused', EVENT_ERROR),
    404: COMMON_REFUSALS[404],
    413: answer('The body is larger than 256 KiB', EVENT_ERROR),
    415: answer('The body is not a security event token in UTF-8', EVENT_ERROR),
    429: answerForLater(
      'The address or the transmitter has sent too many events within a minute',
      EVENT_ERROR,
    ),
    500: answer('Internal error: server_error', EVENT_ERROR),
    503: answerForLater('The instance cannot reach its database; send the same token again', EVENT_ERROR),
  },
};

@FlowEndpoint('signals')
@UseGuards(
  WaitGuard,
  AvailableGuard,
  throttleGuardOf('signals'),
  EventGuard,
  RevocationsKnownGuard,
  ClockGuard,
)
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
