// Answers a refused call of the operator's API.
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActorError, CommandError, InputError } from '../../administration/command-error.js';
import { Metrics } from '../../metrics/metrics.js';
import { NOT_FOUND } from '../../platform/http/answers.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { ApiRefusal } from '../../workspace/api/api-refusal.js';
import { OperatorRefusal, REFUSAL_ANSWERS } from './operator-refusal.js';

type Refusal = OperatorRefusal | CommandError | ApiRefusal | TooManyRequestsError;

@Catch(OperatorRefusal, CommandError, ApiRefusal, TooManyRequestsError)
export class OperatorRefusalFilter implements ExceptionFilter<Refusal> {
  constructor(private readonly metrics: Metrics) {}

  async catch(refusal: Refusal, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const { id: requestId } = http.getRequest<FastifyRequest>();
    if (refusal instanceof TooManyRequestsError) {
      this.metrics.throttled.inc({ flow: 'operator' });
      void reply.headers(refusal.headers);
    }
    const { status, error, message } = answerTo(refusal);
    // Every 404 has the same bytes (D23).
    await reply.status(status).send(status === 404 ? NOT_FOUND : { error, message, requestId });
  }
}

function answerTo(refusal: Refusal) {
  const { message } = refusal;
  if (refusal instanceof OperatorRefusal) {
    const { status, message: usual } = REFUSAL_ANSWERS[refusal.word];
    return { status, error: status === 409 ? 'refused' : refusal.word, message: refusal.detail ?? usual };
  }
  if (refusal instanceof TooManyRequestsError) return { status: 429, error: 'too_many_requests', message };
  if (refusal instanceof ActorError)
    return { ...REFUSAL_ANSWERS.sign_in_required, error: 'sign_in_required' };
  if (refusal instanceof InputError) return { status: 400, error: 'bad_request', message };
  if (refusal instanceof CommandError) return { status: 409, error: 'refused', message };
  return { status: refusal.reason === 'not_found' ? 404 : 400, error: 'bad_request', message };
}
