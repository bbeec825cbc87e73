// Hands a controller the principal of the request.
import type { ExecutionContext } from '@nestjs/common';
import { createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './principal.js';

/** The principal that the AuthenticationGuard found. Use only behind that guard. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === undefined)
    throw new Error('a route asks for the principal without the AuthenticationGuard');
  return principal;
});
