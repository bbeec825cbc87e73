// The decorators of the operator's API: for its controllers, and for the call that a route gets.
import type { ExecutionContext } from '@nestjs/common';
import { Controller, UseFilters, UseGuards, applyDecorators, createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { clientOf } from '../../platform/http/throttle/rate-limit.js';
import { OperatorRefusalFilter } from '../sign-in/operator-refusal.filter.js';
import {
  OperatorAddressThrottlerGuard,
  OperatorGuard,
  OperatorThrottlerGuard,
  operatorOf,
} from '../sign-in/operator.guard.js';
import type { OperatorCall } from './operator-calls.js';

/** In this order: the limit of the address, the signed-in operator on a page of the instance, the operator's limit, the route. */
export function OperatorController(): ClassDecorator {
  return applyDecorators(
    Controller('rest/admin'),
    UseGuards(OperatorAddressThrottlerGuard, OperatorGuard, OperatorThrottlerGuard),
    UseFilters(OperatorRefusalFilter),
  );
}

export const Call = createParamDecorator((_: unknown, context: ExecutionContext): OperatorCall => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { requestId: request.id, clientAddress: clientOf(request.ip), operator: operatorOf(request) };
});
