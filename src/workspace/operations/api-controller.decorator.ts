// Makes a class a controller of the public API, with all its guards, interceptors and filters.
import { applyDecorators, Controller, UseFilters, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AuthenticationGuard, WaitLimitInterceptor } from '../../access/authentication.guard.js';
import { auditUsers } from '../../access/principal.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { minuteThrottler } from '../../platform/http/throttle/rate-limit.js';
import { ApiRefusalFilter } from '../api/api-refusal.js';
import { ApiAuditInterceptor } from './api-audit.interceptor.js';
import { RightsInterceptor } from './rights.interceptor.js';

/**
 * Runs after the AuthenticationGuard and before the audit trail, whose growth it limits.
 * @rule B.calls Calls are counted per pair of actor and subject; without an actor, per user.
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

/**
 * The order: authentication, rate limit, audit record, scope, licence and right, body and parameters, route.
 */
export function ApiController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Controller(`api/v1/${path}`),
    UseGuards(AuthenticationGuard, ApiThrottlerGuard),
    UseInterceptors(WaitLimitInterceptor, ApiAuditInterceptor, RightsInterceptor),
    UseFilters(ApiRefusalFilter),
    ApiTags(tag),
  );
}
