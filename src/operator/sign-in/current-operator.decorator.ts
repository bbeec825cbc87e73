// Hands a route the operator who calls it.
import type { ExecutionContext } from '@nestjs/common';
import { createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export const CurrentOperator = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { operator } = context.switchToHttp().getRequest<FastifyRequest>();
  if (operator === undefined) throw new Error('the route needs the OperatorGuard');
  return operator;
});
