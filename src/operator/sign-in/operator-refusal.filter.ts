// The refusals of the operator's API, and their responses.
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActorError, CommandError, InputError } from '../../administration/operation.js';
import { Metrics } from '../../metrics/metrics.js';
import { NOT_FOUND } from '../../platform/http/http-messages.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { ApiRefusal } from '../../workspace/api/api-refusal.js';

const REFUSAL_ANSWERS = {
  /** There is no session, or it has ended. */
  sign_in_required: { status: 401, message: 'Sign in' },
  /** The request has an access token, or the session of an embedded login. Neither gives access here. */
  operator_session_required: {
    status: 403,
    message: "Sign in on the operator's page. Access tokens and embedded sessions are not accepted",
  },
  csrf_refused: { status: 403, message: 'The request does not come from this instance' },
  invalid_credentials: { status: 401, message: 'The e-mail address or the password is wrong' },
  invalid_code: { status: 401, message: 'The code is wrong, was used before, or has expired' },
  bad_request: { status: 400, message: 'The request is not valid' },
  not_found: { status: 404, message: NOT_FOUND.message },
};

/** A refusal. The trail records it like a command's. */
export class OperatorRefusal extends CommandError {
  override readonly name = 'OperatorRefusal';

  /** @param detail replaces the default message; never contains a sent or stored value */
  constructor(
    readonly word: keyof typeof REFUSAL_ANSWERS,
    readonly detail?: string,
  ) {
    super(detail ?? word);
  }
}

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
    // Every 404 is identical (D23).
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
