// Makes a class a controller of the public API, behind everything that each of its calls goes through.
import { Controller, UseFilters, UseGuards, UseInterceptors, applyDecorators } from '@nestjs/common';
import { AuthenticationGuard } from '../../access/authentication.guard.js';
import { WaitLimitInterceptor } from '../../access/wait-limit.interceptor.js';
import { RightsInterceptor } from './rights.interceptor.js';
import { ApiAuditInterceptor } from './api-audit.interceptor.js';
import { ApiRefusalFilter } from '../api/api-refusal.filter.js';
import { ApiThrottlerGuard } from '../api/api-throttler.guard.js';
import { ApiTags } from '@nestjs/swagger';

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
