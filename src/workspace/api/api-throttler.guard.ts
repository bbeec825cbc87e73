// Limits the calls of the API per minute, by who makes them.
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { auditParties } from '../../access/principal.js';
import { MinuteThrottlerGuard } from '../../http/throttle/minute-throttler.guard.js';
import type { WorkspaceOptions } from '../workspace.options.js';
import { WORKSPACE_OPTIONS } from '../workspace.options.js';

/**
 * Behind the AuthenticationGuard, and before the audit trail, whose growth it bounds.
 * @rule B.calls Calls are counted per pair of actor and subject, without an actor per user.
 */
@Injectable()
export class ApiThrottlerGuard extends MinuteThrottlerGuard {
  @Inject(WORKSPACE_OPTIONS)
  private readonly workspace!: WorkspaceOptions;

  readonly bucket = 'api';

  limitPerMinute(): number {
    return this.workspace.callsPerMinute;
  }

  protected override clientIn({ principal }: FastifyRequest): string {
    if (principal === undefined) throw new Error('the ApiThrottlerGuard needs the AuthenticationGuard');
    const { subjectUserId, actorUserId = '' } = auditParties(principal);
    return `${subjectUserId} ${actorUserId}`;
  }
}
