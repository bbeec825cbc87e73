// Limits the calls of the API per minute, by who makes them.
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { InjectThrottlerStorage } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { auditUsers } from '../../access/principal.js';
import { MinuteThrottlerGuard } from '../../platform/http/throttle/minute-throttler.guard.js';
import type { ApiOptions } from './api-refusal.js';
import { API_OPTIONS } from './api-refusal.js';

/**
 * Behind the AuthenticationGuard, and before the audit trail, whose growth it bounds.
 * @rule B.calls Calls are counted per pair of actor and subject, without an actor per user.
 */
@Injectable()
export class ApiThrottlerGuard extends MinuteThrottlerGuard {
  constructor(
    @Inject(API_OPTIONS) { callsPerMinute }: Pick<ApiOptions, 'callsPerMinute'>,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
  ) {
    super({ name: 'api', perMinute: callsPerMinute }, storage, reflector);
  }

  protected override getTracker({ principal }: FastifyRequest): Promise<string> {
    if (principal === undefined) throw new Error('the ApiThrottlerGuard needs the AuthenticationGuard');
    const { subjectUserId, actorUserId = '' } = auditUsers(principal);
    return Promise.resolve(`${subjectUserId} ${actorUserId}`);
  }
}
