// The decorators of the operator's API: for its controllers, and for the call parameter of routes.
import type { ExecutionContext } from '@nestjs/common';
import { applyDecorators, Controller, createParamDecorator, UseFilters, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { LiveOperatorSession } from '../../administration/accounts/operator-session.repository.js';
import type { OperationRequest } from '../../administration/administration.js';
import { clientOf } from '../../platform/http/throttle/rate-limit.js';
import {
  OperatorAddressThrottlerGuard,
  OperatorGuard,
  operatorOf,
  OperatorThrottlerGuard,
} from '../sign-in/operator.guard.js';
import { OperatorRefusalFilter } from '../sign-in/operator-refusal.filter.js';

/** A call of the operator's API, with which operations are requested. */
export interface OperatorCall extends OperationRequest {
  readonly session: LiveOperatorSession;
}

/** The order: limit per address, signed-in operator on a page of the instance, limit per operator, route. */
export function OperatorController(): ClassDecorator {
  return applyDecorators(
    Controller('rest/admin'),
    UseGuards(OperatorAddressThrottlerGuard, OperatorGuard, OperatorThrottlerGuard),
    UseFilters(OperatorRefusalFilter),
  );
}

export const Call = createParamDecorator((_: unknown, context: ExecutionContext): OperatorCall => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const session = operatorOf(request);
  const operator = { userId: session.userId, clientAddress: clientOf(request.ip) };
  return { id: request.id, way: 'operator', operator, session };
});
