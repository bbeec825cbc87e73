// Makes a class a controller of the public API, behind everything that each of its calls goes through.
import { Controller, UseFilters, UseGuards, UseInterceptors, applyDecorators } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AuthenticationGuard, WaitLimitInterceptor } from '../../access/authentication.guard.js';
import { RightsInterceptor } from './rights.interceptor.js';
import { ApiAuditInterceptor } from './api-audit.interceptor.js';
import { ApiRefusalFilter } from '../api/api-refusal.js';
import { auditUsers } from '../../access/principal.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { minuteThrottler } from '../../platform/http/throttle/rate-limit.js';

/**
 * Behind the AuthenticationGuard, and before the audit trail, whose growth it bounds.
 * @rule B.calls Calls are counted per pair of actor and subject, without an actor per user.
 */
export const ApiThrottlerGuard = minuteThrottler(
  'api',
  STARTUP,
  ({ config }: Startup) => config.apiCallsPerMinute,
  ({ principal }: Pick<FastifyRequest, 'principal'>) => {
    if (principal === undefined) throw new Error('the ApiThrottlerGuard needs the AuthenticationGuard');
    const { subjectUserId, actorUserId = '' } = auditUsers(principal);
    return `${subjectUserId} ${actorUserId}`;
  },
);

/** Who is it → not too often → write it down → scope, licence and right → body and parameters → the route. */
export function ApiController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Controller(`api/v1/${path}`),
    UseGuards(AuthenticationGuard, ApiThrottlerGuard),
    UseInterceptors(WaitLimitInterceptor, ApiAuditInterceptor, RightsInterceptor),
    UseFilters(ApiRefusalFilter),
    ApiTags(tag),
  );
}
