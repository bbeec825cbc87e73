// Limits the calls of the API per minute, by who makes them.
import type { FastifyRequest } from 'fastify';
import { auditUsers } from '../../access/principal.js';
import { minuteThrottler } from '../../platform/http/throttle/minute-throttler.js';
import type { ApiOptions } from './api-refusal.js';
import { API_OPTIONS } from './api-refusal.js';

/**
 * Behind the AuthenticationGuard, and before the audit trail, whose growth it bounds.
 * @rule B.calls Calls are counted per pair of actor and subject, without an actor per user.
 */
export const ApiThrottlerGuard = minuteThrottler(
  'api',
  API_OPTIONS,
  ({ callsPerMinute }: ApiOptions) => callsPerMinute,
  ({ principal }: Pick<FastifyRequest, 'principal'>) => {
    if (principal === undefined) throw new Error('the ApiThrottlerGuard needs the AuthenticationGuard');
    const { subjectUserId, actorUserId = '' } = auditUsers(principal);
    return `${subjectUserId} ${actorUserId}`;
  },
);
